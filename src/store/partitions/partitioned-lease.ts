import { type BloomEventListener, describeError } from '../../common/index.js';
import type {
  BuildOutcome,
  LeaseRequest,
  PartDescription,
  RebuildLease,
  StagePlan,
  Staging,
  StoredFilter,
} from '../index.js';
import { isKnown, isUnreachable, type KnownPart } from './part-totals.js';
import { PartitionedStaging } from './partitioned-staging.js';
import { RebuiltPart } from './rebuilt-part.js';

export interface LeasedParts {
  readonly name: string;
  readonly emit: BloomEventListener;
  readonly parts: readonly StoredFilter[];
  /** @throws when no part can be asked, or one of them is stored in another number of parts. */
  readonly describe: () => Promise<readonly PartDescription[]>;
  /** Makes sure that no part has what processes have built with other contents. */
  readonly confirm: () => Promise<void>;
}

/**
 * Takes the leases of the parts that are to be rebuilt. Parts whose lease is taken, that are not due, or that
 * cannot be asked are left out. The first part of a filter that was never built has to be among them: its
 * metadata claim the number of parts for all processes.
 */
export async function leaseParts(
  filter: LeasedParts,
  request: LeaseRequest,
): Promise<RebuildLease | undefined> {
  const found = await filter.describe();
  const [first] = found;
  const unreachable = found.find(isUnreachable);
  const isClaimed = found.some((part) => isKnown(part) && part.state !== 'unbuilt');
  const isFirstClaimed = first !== undefined && isKnown(first) && first.state !== 'unbuilt';
  // Only who has seen all parts knows that none is of another number.
  if (unreachable && !(isFirstClaimed || (isClaimed && first === unreachable))) throw unreachable.error;
  const decline = (part: KnownPart) => request.unless?.(part);
  const wanted = found.filter(isKnown).filter((part) => decline(part) === undefined);
  if (wanted.length === 0) {
    if (unreachable) throw unreachable.error;
    return declinedLease(decline(found.find(isKnown)!) ?? '');
  }
  // Without an occasion a filter without a source is emptied, or created: wholly or not at all.
  const isWhole = request.occasion === undefined;
  if (isWhole && unreachable) throw unreachable.error;
  const asking = new Asking(filter, request);
  const isAlone = wanted.length === 1;
  const firstLease = await asking.ask(wanted[0]!.part);
  const isManual = request.occasion?.kind === 'manual';
  // Another process has begun with the parts in their order: it reads the source for all of them.
  const isUnderWay = !firstLease && asking.dueInMs === undefined && asking.error === undefined;
  if (!isAlone && !(isUnderWay && !isManual))
    await Promise.all(wanted.slice(1).map(({ part }) => asking.ask(part)));
  const needsFirst = first !== undefined && isKnown(first) && first.state === 'unbuilt';
  const isComplete = asking.taken.length === wanted.length || !isWhole;
  const hasFirst = !needsFirst || asking.taken.some(({ part }) => part === 0);
  if (asking.taken.length > 0 && isComplete && hasFirst) return asking.confirmed();
  await asking.giveBack();
  if (asking.dueInMs !== undefined) request.onNotDue?.(asking.dueInMs);
  else if (asking.error !== undefined) throw asking.error;
  return undefined;
}

/** Asks for the leases of several parts. */
class Asking {
  taken: RebuiltPart[] = [];
  /** Time until the first part is due, of those that are not. */
  dueInMs: number | undefined;
  error: unknown;

  constructor(
    private readonly filter: LeasedParts,
    private readonly request: LeaseRequest,
  ) {}

  async ask(part: number): Promise<RebuildLease | undefined> {
    const { name, emit, parts } = this.filter;
    const onNotDue = (ms: number) => (this.dueInMs = Math.min(ms, this.dueInMs ?? Infinity));
    try {
      const lease = await parts[part]!.lease({ ...this.request, onNotDue });
      if (lease) this.taken = [...this.taken, new RebuiltPart(part, lease, { name, emit })].sort(byPart);
      return lease;
    } catch (error) {
      this.error ??= error;
      emit({ type: 'store-error', filter: name, part, operation: 'take the lease of a part', error });
      return undefined;
    }
  }

  /** What has been rebuilt before its lease was taken is left alone. */
  async confirmed(): Promise<RebuildLease> {
    const { unless } = this.request;
    if (!unless) return new PartitionedLease(this.filter, this.taken);
    const found = await this.filter.describe().catch(async (error: unknown) => {
      await this.giveBack();
      throw error;
    });
    const reasonOf = ({ part }: RebuiltPart) => {
      const description = found[part]!;
      return isKnown(description) ? unless(description) : undefined;
    };
    const left = this.taken.filter((part) => reasonOf(part) === undefined);
    const declined = this.taken.filter((part) => !left.includes(part));
    await Promise.allSettled(declined.map((part) => part.lease.release()));
    return left.length > 0
      ? new PartitionedLease(this.filter, left)
      : declinedLease(reasonOf(declined[0]!) ?? '');
  }

  async giveBack(): Promise<void> {
    await Promise.allSettled(this.taken.map((part) => part.lease.release()));
  }
}

function byPart(one: RebuiltPart, other: RebuiltPart): number {
  return one.part - other.part;
}

function declinedLease(reason: string): RebuildLease {
  return {
    signal: new AbortController().signal,
    declined: reason,
    stage: () => Promise.reject(new Error(reason)),
    release: async () => {},
  };
}

/** The leases of several parts. A part that fails is given up, and the others go on. */
class PartitionedLease implements RebuildLease {
  readonly signal: AbortSignal;
  readonly parts: readonly number[];

  private readonly ended = new AbortController();
  /** What the last scan read for each part: a source of chosen ids may fill some parts more than others. */
  private readonly read = new Map<number, number>();

  constructor(
    private readonly filter: LeasedParts,
    private readonly rebuilt: readonly RebuiltPart[],
  ) {
    this.signal = this.ended.signal;
    this.parts = rebuilt.map(({ part }) => part);
    for (const part of rebuilt) {
      part.onGivenUp = (error) => {
        if (rebuilt.every(({ isGivenUp }) => isGivenUp)) this.ended.abort(error);
      };
      const { signal } = part.lease;
      const end = () => part.giveUp(signal.reason);
      if (signal.aborted) end();
      else signal.addEventListener('abort', end, { once: true });
    }
  }

  /**
   * One part after the other, since those on one server share its memory, and the first one claims the number
   * of parts.
   */
  async stage(plan: StagePlan): Promise<Staging> {
    await this.filter.confirm();
    const found = await this.filter.describe();
    const of = found.length;
    const first = found[0]!;
    for (const part of this.rebuilt) {
      if (part.isGivenUp) continue;
      const description = found[part.part]!;
      const builtIds = isKnown(description) ? description.builtIds : 0;
      await part.stage(plan, { of, ids: Math.max(builtIds, this.read.get(part.part) ?? 0) });
      // Nothing may be published before it.
      const isClaim = part.part === 0 && isKnown(first) && first.state === 'unbuilt';
      if (isClaim && part.isGivenUp) throw part.failure;
    }
    const staged = this.rebuilt.filter(({ isGivenUp }) => !isGivenUp);
    if (staged.length === 0) throw this.rebuilt[0]!.failure;
    const stagings = staged.map((part) => ({ part, staging: part.staging! }));
    return new PartitionedStaging({
      plan,
      of,
      parts: stagings,
      onRead: (part, ids) => this.read.set(part, ids),
    });
  }

  async release(outcome?: BuildOutcome): Promise<void> {
    const results = await Promise.allSettled(this.rebuilt.map((part) => part.release(outcome)));
    const failed = results.find((result) => result.status === 'rejected');
    if (failed)
      throw failed.reason instanceof Error ? failed.reason : new Error(describeError(failed.reason));
  }
}
