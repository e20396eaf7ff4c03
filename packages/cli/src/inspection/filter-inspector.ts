import { type BloomFilterState, type BloomVerdict, isLongerThan } from 'nestjs-bloom/store';
import type { IdKey } from 'nestjs-bloom/filter';
import { type Outdated, partName, type ServerScripts } from 'nestjs-bloom/internal';
import { blockedKind, type InspectionContext, isGrown, partitionsIn } from './blocked-kind.js';
import { bfKind, cuckooKind, peerKind } from './command-kinds.js';
import type { FoundGeneration, FoundMeta, InspectedKind, IntegerRange } from './found-generation.js';
import {
  allBitsSet,
  askApplication,
  COUNTS_NOT_BELIEVED,
  formatTooNew,
  idTooLong,
  KEY_DAMAGED,
  metadataNonsense,
  noMetadata,
  notAnswering,
  NOTES,
  OTHER_RUN,
  someBitsMissing,
} from './inspection.messages.js';
import { type KeyFacts, KeyWalk, sizesOf } from './key-facts.js';
import { type BuildFacts, type LeaseFacts, readBuilds, readLease } from './lease-facts.js';

/** What Redis holds of one filter, read without writing anything. */
export interface FilterInspection {
  readonly name: string;
  readonly layout: string;
  /** Parts of the filter, of which this is one; undefined: it is not divided. */
  readonly partitions: number | undefined;
  readonly metaKey: string;
  /**
   * As the metadata have it; `missing`, `nonsense` and `newer` where they say nothing that this version
   * believes.
   */
  readonly state: BloomFilterState | 'missing' | 'nonsense' | 'newer';
  /** Why the state is what it is, where there is more to say. */
  readonly note: string | undefined;
  /** Run of the server that answers; '' when it may not be asked. */
  readonly runId: string;
  readonly owner: string | undefined;
  readonly generation: string | undefined;
  readonly settings: string | undefined;
  /** Bits set for an id that is hashed (k). */
  readonly hashCount: number | undefined;
  /** Integers that have a bit each; undefined: every id is hashed. */
  readonly range: IntegerRange | undefined;
  readonly maxIdBytes: number | undefined;
  readonly builds: number;
  /** Ids that the last build read. */
  readonly builtIds: number;
  readonly count: number | undefined;
  readonly capacity: number;
  /** The error rate asked for. */
  readonly errorRate: number;
  /** Share of absent ids that pass now, not counting integers of a range: none of those passes. */
  readonly measuredErrorRate: number | undefined;
  /** Share of the bits that are set, of the range where there is one. */
  readonly fill: { readonly share: number; readonly blocks: number } | undefined;
  readonly builtAt: Date | undefined;
  /** The staging generation, which has been published. */
  readonly staging: string | undefined;
  readonly lease: LeaseFacts | undefined;
  readonly facts: BuildFacts;
  readonly live: KeyFacts;
  readonly stagingKeys: KeyFacts;
  /**
   * What is there beside: left-overs of rebuilds, tables of the negative cache, and whatever else has the
   * names of the filter.
   */
  readonly others: readonly (KeyFacts & { readonly what: string })[];
  /** False when the walk over the keys of the server took too long. */
  readonly isWalkComplete: boolean;
  /** Other layouts of which there are metadata under this name. */
  readonly alsoFound: readonly string[];
}

/** A verdict, and what it rests on. */
export interface InspectedVerdict {
  readonly verdict: BloomVerdict;
  readonly reason: string;
}

interface Found {
  readonly kind: InspectedKind;
  readonly layout: string;
  readonly meta: FoundMeta;
  readonly runId: string;
  readonly owner: string | undefined;
  readonly alsoFound: readonly string[];
  readonly partitions: number | undefined;
}

export interface InspectorOptions extends InspectionContext {
  readonly scripts: ServerScripts;
  /** Key of a filter of another system. */
  readonly key?: string | undefined;
}

/**
 * Looks at one filter from outside, as no process of an application does: nothing is taken out of service for
 * what is found.
 */
export class FilterInspector {
  constructor(private readonly options: InspectorOptions) {}

  /**
   * @param walkMs longest time for the walk over the keys of the server; 0: none.
   * @throws {BloomUnavailableError} when the server cannot be asked.
   */
  async inspect({ walkMs }: { readonly walkMs: number }): Promise<FilterInspection> {
    const { name, connection } = this.options;
    const found = await this.find();
    const { kind, meta, runId, owner, alsoFound, layout } = found;
    const known = meta.kind === 'known' ? meta : undefined;
    const { live, staging } = known ?? {};
    const liveKeys = live?.keys ?? [];
    const [lease, facts, measured, liveFacts, stagingKeys, walk] = await Promise.all([
      readLease(connection, kind.keys.lease),
      readBuilds(connection, kind.keys.builds),
      live?.measure(),
      sizesOf(connection, liveKeys),
      sizesOf(
        connection,
        (staging?.keys ?? []).map((key) => ({ key })),
      ),
      this.walk(found, walkMs),
    ]);
    return {
      name,
      layout,
      partitions: found.partitions,
      metaKey: kind.keys.meta,
      state: known?.state ?? (meta.kind as 'missing' | 'nonsense' | 'newer'),
      note: noteOn(found),
      runId,
      owner,
      generation: live?.token,
      settings: live?.settings,
      hashCount: live?.hashCount,
      range: live?.range,
      maxIdBytes: live?.maxIdBytes,
      builds: known?.builds ?? 0,
      builtIds: known?.ids ?? 0,
      count: measured?.count,
      capacity: known?.capacity ?? 0,
      errorRate: known?.errorRate ?? 0,
      measuredErrorRate: measured?.errorRate,
      fill: measured?.fill,
      builtAt: known?.builtAt,
      staging: staging?.token,
      lease,
      facts,
      live: { ...liveFacts, bytes: Math.max(liveFacts.bytes, measured?.bytes ?? 0) },
      stagingKeys,
      others: walk.others,
      isWalkComplete: walk.isComplete,
      alsoFound,
    };
  }

  /**
   * What a process of an application would answer that has not read the metadata of the filter yet.
   *
   * @throws {BloomUnavailableError} when the server cannot be asked.
   */
  async check(id: IdKey): Promise<InspectedVerdict> {
    for (let attempt = 1; ; attempt++) {
      const found = await this.find();
      const { meta } = found;
      const note = noteOn(found);
      if (meta.kind !== 'known' || !meta.live || isOfAnotherRun(found))
        return { verdict: 'unknown', reason: note ?? notAnswering(stateOf(meta)) };
      const reply = await meta.live.check(id);
      // Read in two steps: a swap may have come in between.
      if (!isVerdict(reply)) {
        if (attempt < 3) continue;
        return { verdict: 'unknown', reason: KEY_DAMAGED };
      }
      return { verdict: reply, reason: reasonOf(reply, meta.live, id, found.layout) };
    }
  }

  private async find(): Promise<Found> {
    const { scripts, part } = this.options;
    const described = await Promise.all(
      kindsOf(this.options).map(async (kind) => ({
        kind,
        ...(await scripts.describe(kind.keys.meta, false)),
      })),
    );
    const there = described.filter(({ type }) => type !== 'none');
    const { kind, runId, type, fields } = there[0] ?? described[0]!;
    const layoutOf = (one: (typeof described)[number]) =>
      one.kind.layout === 'blocked' && isGrown(one.type, one.fields) ? 'blocked, scaling' : one.kind.layout;
    const meta = kind.read(type, fields);
    const isExact = meta.kind === 'known' && meta.live?.range !== undefined;
    return {
      kind,
      layout: isExact ? 'exact' : layoutOf(there[0] ?? described[0]!),
      meta,
      runId,
      owner: fieldIn(fields, 'owner'),
      alsoFound: there.slice(1).map(layoutOf),
      partitions: kind.layout === 'blocked' ? (part?.of ?? partitionsIn(type, fields)) : undefined,
    };
  }

  private async walk({ meta, kind }: Found, walkMs: number) {
    const { connection, keyPrefix, key, part } = this.options;
    const name = partName(this.options.name, part?.index ?? 0);
    const base = kind.keys.meta.slice(0, -':meta'.length);
    const known = meta.kind === 'known' ? meta : undefined;
    const expected = [
      ...(known?.live?.keys ?? []).map((one) => one.key),
      ...(known?.staging?.keys ?? []),
      ...Object.values(kind.keys as unknown as Record<string, unknown>).filter(
        (one) => typeof one === 'string',
      ),
    ];
    const walk = new KeyWalk(connection, {
      base: key === undefined ? `${keyPrefix}:{${name}}` : base,
      expected,
    });
    return walk.run(walkMs);
  }
}

/** What may stand under the name of a filter. */
export function kindsOf({ key, ...context }: Omit<InspectorOptions, 'scripts'>): InspectedKind[] {
  if (context.part) return [blockedKind(context)];
  return key === undefined
    ? [blockedKind(context), bfKind(context), cuckooKind(context)]
    : [peerKind(context, key)];
}

/** The value of a field in a list of fields and values. */
export function fieldIn(fields: readonly string[], name: string): string | undefined {
  const at = fields.findIndex((field, i) => i % 2 === 0 && field === name);
  return at < 0 ? undefined : fields[at + 1];
}

function stateOf(meta: FoundMeta): string {
  return meta.kind === 'known' ? meta.state : meta.kind;
}

function isOfAnotherRun({ meta, runId }: Found): boolean {
  return (
    meta.kind === 'known' &&
    meta.live !== undefined &&
    meta.runId !== '' &&
    runId !== '' &&
    meta.runId !== runId
  );
}

function noteOn(found: Found): string | undefined {
  const { meta, kind } = found;
  switch (meta.kind) {
    case 'missing':
      return noMetadata(kind.keys.meta);
    case 'newer':
      return formatTooNew(meta.found, meta.supported);
    case 'nonsense':
      return metadataNonsense(meta.fault);
    case 'known':
      if (isOfAnotherRun(found)) return OTHER_RUN;
      return meta.areCountsPlausible ? NOTES[meta.state] : COUNTS_NOT_BELIEVED;
  }
}

function reasonOf(verdict: BloomVerdict, live: FoundGeneration, id: IdKey, layout: string): string {
  if (verdict === 'unknown') return askApplication(layout);
  const { maxIdBytes, hashCount } = live;
  if (verdict === 'absent' && maxIdBytes !== undefined && isLongerThan(id, maxIdBytes))
    return idTooLong(maxIdBytes);
  const bits = live.bitsOf?.(id) ?? { hashCount };
  return verdict === 'absent' ? someBitsMissing(bits, live.token) : allBitsSet(bits);
}

function isVerdict(reply: BloomVerdict | Outdated): reply is BloomVerdict {
  return reply === 'absent' || reply === 'maybe' || reply === 'unknown';
}
