import { BloomConfigError, type IdKey } from 'nestjs-bloom/filter';
import {
  type Adoption,
  assertNotTooLong,
  createdAndRemoved,
  isUnknownCommand,
  type Outdated,
  type Permission,
  type RedisConnection,
  type StagingContext,
} from 'nestjs-bloom/internal';
import type { BloomVerdict, FilterShape, StagePlan } from 'nestjs-bloom/store';
import { cuckooCodec, type CuckooLayoutOptions } from '../../formats/cuckoo-codec.js';
import { LAYOUT_NUMBERS } from '../../formats/layout-numbers.js';
import { checkShortEnough } from '../generation/command-ids.js';
import type { StoredGeneration } from '../generation/generation-meta.js';
import type { DrivenContext, GenerationRole, LayoutDriver } from '../generation/layout-driver.js';
import type { CfKeys } from './cf-keys.js';
import { CfScripts } from './cf-scripts.js';
import { CfStaging } from './cf-staging.js';
import { commandsMissing } from './cf.messages.js';
import { createGeneration, resolveCf, type ResolvedCf } from './resolved-cf.js';

/**
 * Ids of one call: each is some commands of the script `cf-add`, which together hold the server for about a
 * millisecond.
 */
const IDS_PER_CALL = 128;

interface CfDriverOptions {
  readonly filter: string;
  readonly connection: RedisConnection;
  readonly keys: CfKeys;
  readonly plan: StagePlan;
  readonly layout: CuckooLayoutOptions;
  readonly hasSource: boolean;
  /** Longest time from a row that is gone to the removal of its id, as from an add to its row. */
  readonly drainMs: number;
}

/** Filters of the commands `CF.*`, on keys that nobody else writes to. */
export class CfDriver implements LayoutDriver<ResolvedCf> {
  readonly layout = LAYOUT_NUMBERS.cuckoo;

  private readonly scripts: CfScripts;

  constructor(private readonly options: CfDriverOptions) {
    this.scripts = new CfScripts(options.connection, options.keys);
  }

  /** @throws {BloomConfigError} when the server has no such filters. */
  async verify(): Promise<void> {
    const { filter, keys } = this.options;
    const info = await this.scripts.info(keys.probe);
    if (!('error' in info) || !isUnknownCommand(info.error)) return;
    throw new BloomConfigError(commandsMissing(filter, info.error));
  }

  resolve(generation: StoredGeneration): ResolvedCf | undefined {
    return resolveCf(this.options.keys, generation);
  }

  ownKeys({ token }: StoredGeneration): string[] {
    const { keys } = this.options;
    return [keys.generation(token), keys.kept(token)];
  }

  idsPerCall(): number {
    return IDS_PER_CALL;
  }

  assertFits(id: IdKey): void {
    assertNotTooLong(id, this.options.plan.maxIdBytes);
  }

  check(
    resolved: ResolvedCf,
    ids: readonly IdKey[],
    role: GenerationRole,
  ): Promise<BloomVerdict[] | Outdated> {
    return checkShortEnough(this.options.plan.maxIdBytes, ids, (fitting) =>
      this.scripts.check(resolved, fitting, role),
    );
  }

  add(
    live: ResolvedCf | undefined,
    staging: ResolvedCf | undefined,
    ids: readonly IdKey[],
  ): Promise<boolean[] | Outdated> {
    return this.scripts.add(live, staging, ids);
  }

  /** From the live generation only: a staged one may not have the id, and could lose another for it. */
  remove(live: ResolvedCf, ids: readonly IdKey[], beganAt: number): Promise<boolean[] | Outdated> {
    const { hasSource, drainMs } = this.options;
    return this.scripts.remove(live, ids, { beganAt, settleMs: hasSource ? drainMs : 0 });
  }

  /** Time of the server, in milliseconds. */
  clock(): Promise<number> {
    return this.scripts.clock();
  }

  /** Nobody else makes the filter. */
  async adopt(): Promise<Adoption> {
    return { outcome: 'missing' };
  }

  async measure({
    key,
    canaries,
    settings,
  }: ResolvedCf): Promise<{ count: number; shape: FilterShape } | undefined> {
    const info = await this.scripts.info(key);
    if ('error' in info) return undefined;
    const count = Math.max(0, info.fingerprints - canaries.length);
    return { count, shape: shapeOf(settings, count, info.bytes) };
  }

  stage(context: StagingContext, filter: DrivenContext<ResolvedCf>): CfStaging {
    const staging = this.resolve(createGeneration(context.token, context.plan, this.options.layout))!;
    return new CfStaging(filter, context, { driver: this, scripts: this.scripts, staging });
  }

  permissions(): Permission[] {
    const { keys } = this.options;
    const { probe } = keys;
    const filter = keys.generation('probe');
    return [
      { command: 'CF.RESERVE', key: filter, args: ['no capacity'] },
      { command: 'CF.INSERT', key: filter, args: ['NOCREATE', 'ITEMS', 'probe'] },
      ...['CF.MEXISTS', 'CF.COUNT', 'CF.DEL'].map((command) => ({ command, key: filter, args: ['probe'] })),
      { command: 'CF.INFO', key: filter },
      { command: 'SISMEMBER', key: probe, args: ['probe'] },
      ...['EXISTS', 'PERSIST', 'SCARD'].map((command) => ({ command, key: probe })),
      { command: 'TIME' },
      ...createdAndRemoved('SADD', probe),
    ];
  }
}

function shapeOf(settings: ResolvedCf['settings'], count: number, bytes: number): FilterShape {
  const { capacity, errorRate, slots, bucketSize, maxIterations, expansion } = settings;
  const growth = { bucketSize, maxIterations, expansion };
  const plan = { ...cuckooCodec.plan({ ...growth, capacity, errorRate }), bits: slots * 8 };
  return { hashCount: plan.hashCount, bytes, modelledErrorRate: cuckooCodec.expectedErrorRate(plan, count) };
}
