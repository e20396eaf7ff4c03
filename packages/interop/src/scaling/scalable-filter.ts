import {
  BlockedFilter,
  BloomFullError,
  type BloomId,
  createGeneration,
  type FilterPlan,
  type IdKey,
  toIdKey,
} from 'nestjs-bloom/filter';
import { anyError, measuredFillOf, stackFillRatio } from 'nestjs-bloom/internal';
import type { FilterFill } from 'nestjs-bloom/store';
import { noFurtherLayer } from './growing.messages.js';
import { planLayer, type ScalingTarget, stackErrorRate } from './growing-plan.js';

/** One filter of the stack. */
export interface ScalableLayer {
  readonly plan: FilterPlan;
  /** Ids that went into this layer. */
  readonly ids: number;
}

/** Options of a `ScalableFilter`. */
export interface ScalableFilterOptions {
  /** An id of more bytes is never in the filter. Default 1024. */
  readonly maxIdBytes?: number;
  /**
   * Where no further layer is possible, the last one takes what comes, and the error rate rises. Default
   * false.
   */
  readonly overfills?: boolean;
}

interface Layer extends ScalableLayer {
  readonly filter: BlockedFilter;
  ids: number;
}

/**
 * A blocked filter that grows, in the memory of this process: a stack of layers, of which the newest takes
 * the ids, as in P. Almeida et al., "Scalable Bloom Filters" (2007). The error rate over all layers stays
 * within the one asked for.
 *
 * For sets whose size nobody knows and that have no source to build a larger filter from; a filter that was
 * made large enough is smaller and looks in one place only.
 */
export class ScalableFilter {
  private readonly stack: Layer[] = [];
  private readonly maxIdBytes: number;
  private readonly overfills: boolean;

  /** @throws {BloomConfigError} */
  constructor(
    private readonly target: ScalingTarget,
    { maxIdBytes = 1024, overfills = false }: ScalableFilterOptions = {},
  ) {
    this.maxIdBytes = maxIdBytes;
    this.overfills = overfills;
    this.open(planLayer(target, 0)!);
  }

  /**
   * Adds an id; true when it was not there before. A full filter grows by a layer.
   *
   * @throws {BloomIdError} when the value is not an id, or is longer than `maxIdBytes`.
   * @throws {BloomFullError} when the filter is full and a further layer would take it above its error rate,
   * `maxCapacity` or 4 GiB.
   */
  add(id: BloomId): boolean {
    return this.addKey(toIdKey(id));
  }

  /** False: the id was never added. True: it was, or the error rate struck. */
  mightContain(id: BloomId): boolean {
    return this.mightContainKey(toIdKey(id));
  }

  addKey(id: IdKey): boolean {
    if (this.mightContainKey(id)) return false;
    let newest = this.stack.at(-1)!;
    if (newest.ids >= newest.plan.capacity) newest = this.grow(newest);
    newest.filter.addKey(id);
    newest.ids++;
    return true;
  }

  mightContainKey(id: IdKey): boolean {
    const { stack } = this;
    for (let i = stack.length - 1; i >= 0; i--) if (stack[i]!.filter.mightContainKey(id)) return true;
    return false;
  }

  /** Plan and load of each layer, the oldest first. */
  describe(): ScalableLayer[] {
    return this.stack.map(({ plan, ids }) => ({ plan, ids }));
  }

  /** Different ids that were added; one that was taken for there is not counted. */
  get ids(): number {
    return this.stack.reduce((sum, { ids }) => sum + ids, 0);
  }

  /** Share of absent ids answered "maybe" over all layers, as the model gives it for what they hold. */
  get modelledErrorRate(): number {
    return stackErrorRate(this.stack.map(({ plan, ids }) => ({ ...plan, ids })));
  }

  /** The same from the bits that are set, in a sample of the blocks of each layer. */
  get measuredErrorRate(): number {
    return anyError(this.fills().map(({ errorRate }) => errorRate));
  }

  /** Share of the bits of all layers that are set, in the same sample. */
  get fillRatio(): number {
    const blocks = this.stack.map(({ plan }) => plan.blocks);
    return stackFillRatio(this.fills(), blocks);
  }

  private fills(): FilterFill[] {
    return this.stack.map(({ filter, plan }) => measuredFillOf(filter.bytes, plan));
  }

  private grow(newest: Layer): Layer {
    const plan = planLayer(this.target, this.stack.length);
    if (plan !== undefined) return this.open(plan);
    if (this.overfills) return newest;
    throw new BloomFullError(noFurtherLayer(this.ids, this.stack.length));
  }

  private open(plan: FilterPlan): Layer {
    const filter = new BlockedFilter(createGeneration(plan, this.maxIdBytes));
    const layer = { plan, ids: 0, filter };
    this.stack.push(layer);
    return layer;
  }
}
