import type { ModuleRef } from '@nestjs/core';
import { BloomConfigError, systemClock } from '../common/index.js';
import { scopeOfUnscoped } from '../filter/index.js';
import type { BloomIdSource } from '../rebuild/index.js';
import {
  type BloomFilterOptions,
  type BloomService,
  type BloomUnknownBudget,
  defineFilter,
  type FilterClock,
  type HeartbeatRule,
  ManagedFilter,
  newIdentity,
} from '../service/index.js';
import { type BloomParallelSource, inParallel } from '../sources/index.js';
import type { FilterStore } from '../store/index.js';
import type { AnyModuleOptions, BloomFeature } from './bloom-module-options.js';
import type { EventHub } from './event-hub.js';
import { equalBeyond, spellingsNotKnown } from './module.messages.js';
import { checkServerlessFeature, checkSource } from './module-options-check.js';
import { isToBeMade, SourceMaker } from './source-maker.js';

export interface FilterRegistryContext extends Pick<AnyModuleOptions, 'runtime'> {
  readonly store: FilterStore;
  readonly service: BloomService;
  readonly events: EventHub;
  readonly moduleRef: ModuleRef;
  /** Left out: calls that a filter cannot judge all pass. */
  readonly budget?: BloomUnknownBudget | undefined;
  /** Left out: this process reports to nobody. */
  readonly heartbeat?: HeartbeatRule | false;
}

/** A timer would end long after its time: its work is done at once. */
const CLOCK_BY_CALLS: FilterClock = { ...systemClock, later: (_ms, run) => run() };

/** Creates the filters of an application. */
export class FilterRegistry {
  readonly filters: ManagedFilter[] = [];
  /** Whether a test has made up what the filters hold. */
  readonly isOfTest: boolean = false;
  private readonly makers: SourceMaker[] = [];
  private readonly identity = newIdentity();

  constructor(private readonly parts: FilterRegistryContext) {
    parts.events.listen((event) => parts.service.onEvent(event));
  }

  /** @throws {BloomConfigError} for options that cannot work, and for a name that is taken. */
  register(feature: BloomFeature): ManagedFilter {
    const { source: given, ...options } = feature;
    if (this.parts.runtime) checkServerlessFeature(feature);
    const source = oneSource(options.name, given);
    if (source === undefined || !isToBeMade(source)) {
      const filter = this.add(defineFilter({ ...feature, ...(source && { source }) } as BloomFilterOptions));
      this.reportSpelling(filter, source, options);
      return filter;
    }
    const maker = new SourceMaker(options.name, source, this.parts.moduleRef, (made) => {
      if (options.normalize === undefined) filter.keys.useSpelling(made.spelling?.normalize);
      if (filter.definition.awaitsOrder) filter.follow();
      this.reportSpelling(filter, made, options);
    });
    const filter = this.add(defineFilter({ ...options, source: maker.source }, maker));
    this.makers.push(maker);
    return filter;
  }

  /** To be called when every module exists. Throws for a source that cannot be made. */
  async validate(): Promise<void> {
    await Promise.all(this.makers.map((maker) => this.makeSource(maker)));
  }

  /** Follows external writes; resolves when the marks are known. Never rejects. */
  async startFollowing(): Promise<void> {
    if (!this.isOfTest) await Promise.all(this.filters.map(({ freshness }) => freshness?.start()));
  }

  /** Follows the mode of all processes; resolves when this process knows it. Never rejects. */
  async startBeating(): Promise<void> {
    await Promise.all(this.filters.map((filter) => filter.instances.start()));
  }

  async stopRebuilds(): Promise<void> {
    await Promise.all(this.filters.map((filter) => filter.stopRebuilds()));
  }

  async close(): Promise<void> {
    await Promise.all(this.filters.map((filter) => filter.close()));
  }

  protected async makeSource(maker: SourceMaker): Promise<void> {
    await maker.make();
  }

  private add(definition: ManagedFilter['definition']): ManagedFilter {
    const { store, service, events, budget, heartbeat = false, runtime } = this.parts;
    const filter = new ManagedFilter(definition, {
      store,
      emit: events.emit,
      clock: runtime ? CLOCK_BY_CALLS : systemClock,
      budget,
      identity: this.identity,
      heartbeat,
    });
    service.register(filter);
    this.filters.push(filter);
    return filter;
  }

  /** @throws {BloomConfigError} for a source whose ids have scopes, of a filter whose ids have none. */
  private reportSpelling(
    { name, keys }: ManagedFilter,
    source: BloomIdSource | undefined,
    { normalize }: Pick<BloomFeature, 'normalize'>,
  ): void {
    const { spelling, scoped } = source ?? {};
    if (scoped && !keys.isScoped) throw new BloomConfigError(scopeOfUnscoped(name, 'its source'));
    if (!spelling || normalize !== undefined) return;
    const { column, name: chosen } = spelling;
    if (spelling.normalize) {
      this.parts.events.emit({
        type: 'normalize-chosen',
        filter: name,
        normalize: chosen ?? 'a function',
        column,
      });
    }
    const text = spelling.normalize ? equalBeyond(spelling) : spellingsNotKnown(column);
    if (text !== undefined) this.parts.events.emit({ type: 'advice', filter: name, text });
  }
}

/** @throws {BloomConfigError} for what cannot be a source. */
function oneSource(filter: string, source: BloomFeature['source']): BloomParallelSource | undefined {
  const all = isArray(source) ? source : [source];
  for (const one of all) checkSource(filter, one);
  return isArray(source) ? inParallel(source) : source;
}

/** `Array.isArray` does not know arrays that are read-only. */
function isArray(source: BloomFeature['source']): source is readonly BloomParallelSource[] {
  return Array.isArray(source);
}
