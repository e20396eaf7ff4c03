import { randomBytes } from 'node:crypto';
import type { BloomEventListener, BloomVerdict, FilterShape, StagePlan } from 'nestjs-bloom/store';
import { BloomFullError, type IdKey } from 'nestjs-bloom/filter';
import {
  type Adoption,
  assertNotTooLong,
  createdAndRemoved,
  type Outdated,
  type Permission,
  type RedisConnection,
  type StagingContext,
} from 'nestjs-bloom/internal';
import { LAYOUT_NUMBERS } from '../../formats/layout-numbers.js';
import { redisBloomCodec } from '../../formats/redis-bloom-filter.js';
import { checkShortEnough, commandId } from '../generation/command-ids.js';
import type { GenerationKeys } from '../generation/generation-keys.js';
import type { StoredGeneration } from '../generation/generation-meta.js';
import {
  type DrivenContext,
  type GenerationRole,
  type LayoutDriver,
  TOKEN_FIELDS,
} from '../generation/layout-driver.js';
import { createGeneration, resolveBf, type ResolvedBf, type BfSettings } from './resolved-bf.js';
import { BfScripts } from './bf-scripts.js';
import { BfStaging } from './bf-staging.js';
import { fullToAdopt, notABloomFilter } from './bf.messages.js';
import { isGone, isWrongType, parseInfo } from './replies.js';
import { reserveArguments } from './reserve.js';
import { askCommands } from './server-commands.js';

/** Ids of one call: it holds the server for less than a millisecond. */
const IDS_PER_CALL = 512;

export interface BfDriverOptions {
  readonly filter: string;
  readonly emit: BloomEventListener;
  readonly connection: RedisConnection;
  readonly keys: GenerationKeys;
  readonly plan: StagePlan;
  readonly expansion?: number | undefined;
  readonly nonScaling?: boolean | undefined;
  /** Whether nobody else writes to the key, so that it may be made when it is not there. */
  readonly ownsKey: boolean;
  /** The application that claims a filter on a key of its own. */
  readonly owner?: string | undefined;
}

/** Filters of the commands `BF.*`: the server knows where the bits of an id are. */
export class BfDriver implements LayoutDriver<ResolvedBf> {
  readonly layout = LAYOUT_NUMBERS.redisbloom;

  private readonly scripts: BfScripts;

  constructor(private readonly options: BfDriverOptions) {
    this.scripts = new BfScripts(options.connection, options.keys);
  }

  /** @throws {BloomConfigError} when the server has no such filters. */
  async verify(): Promise<void> {
    await askCommands(this.scripts, this.options.filter);
  }

  resolve(generation: StoredGeneration, role: GenerationRole): ResolvedBf | undefined {
    const { keys } = this.options;
    return resolveBf(generation, role === 'live' ? keys.data : keys.staging(generation.token));
  }

  idsPerCall(): number {
    return IDS_PER_CALL;
  }

  assertFits(id: IdKey): void {
    assertNotTooLong(id, this.options.plan.maxIdBytes);
  }

  check(
    resolved: ResolvedBf,
    ids: readonly IdKey[],
    role: GenerationRole,
  ): Promise<BloomVerdict[] | Outdated> {
    return checkShortEnough(this.options.plan.maxIdBytes, ids, (fitting) =>
      this.scripts.check(resolved, TOKEN_FIELDS[role], fitting.map(commandId)),
    );
  }

  add(
    live: ResolvedBf | undefined,
    staging: ResolvedBf | undefined,
    ids: readonly IdKey[],
  ): Promise<boolean[] | Outdated> {
    return this.scripts.add(live, staging, ids.map(commandId));
  }

  async adopt(states: readonly string[]): Promise<Adoption> {
    const { keys, ownsKey, filter, owner } = this.options;
    const resolved = this.resolve(this.newGeneration(randomBytes(8).toString('hex')), 'live')!;
    const reserve = ownsKey ? reserveArguments(resolved) : [];
    try {
      const reply = await this.scripts.adopt(resolved, states, reserve, ownsKey ? owner : undefined);
      return { outcome: reply === 'OK' ? 'adopted' : reply === 'MISSING' ? 'missing' : 'stale' };
    } catch (error) {
      if (error instanceof BloomFullError)
        return { outcome: 'unfit', reason: fullToAdopt(filter, keys.data) };
      if (isWrongType(error)) return { outcome: 'unfit', reason: notABloomFilter(filter, keys.data) };
      throw error;
    }
  }

  async retire(generation: StoredGeneration): Promise<void> {
    const { connection, emit, filter, keys } = this.options;
    const tombstones = this.resolve(generation, 'live')?.tombstones;
    if (!tombstones) return;
    try {
      await connection.commandWrite('BF.INSERT', keys.data, ['NOCREATE', 'ITEMS', ...tombstones]);
    } catch (error) {
      if (!isGone(error))
        emit({ type: 'store-error', filter, operation: 'mark the filter as offline', error });
    }
  }

  async measure({ key, settings, canaries }: ResolvedBf) {
    try {
      const { items, bytes } = parseInfo(await this.options.connection.commandWrite('BF.INFO', key, []));
      const count = Math.max(0, items - canaries.length);
      return { count, shape: shapeOf(settings, count, bytes) };
    } catch (error) {
      if (isGone(error)) return undefined;
      throw error;
    }
  }

  stage(context: StagingContext, filter: DrivenContext<ResolvedBf>): BfStaging {
    const staging = this.resolve(this.newGeneration(context.token, context.plan), 'staging')!;
    return new BfStaging(filter, context, { driver: this, scripts: this.scripts, staging });
  }

  permissions(): Permission[] {
    const { data, probe } = this.options.keys;
    return [
      // Without ids.
      { command: 'BF.INSERT', key: data, args: ['NOCREATE', 'ITEMS'] },
      { command: 'BF.MEXISTS', key: data, args: ['probe'] },
      { command: 'BF.INFO', key: data },
      { command: 'BF.RESERVE', key: data, args: ['no error rate', '1'] },
      // Only where filters can be loaded: valkey-bloom has another command.
      { command: 'BF.LOADCHUNK', key: probe, args: ['no iterator', 'probe'], isOptional: true },
      { command: 'RPUSHX', key: probe, args: ['probe'] },
      { command: 'HINCRBY', key: probe, args: ['field', 'no number'] },
      { command: 'LRANGE', key: probe, args: ['0', '0'] },
      { command: 'LINDEX', key: probe, args: ['0'] },
      ...['EXISTS', 'LLEN', 'PERSIST'].map((command) => ({ command, key: probe })),
      { command: 'RENAME', key: probe, args: [{ key: `${probe}:renamed` }] },
      ...createdAndRemoved('RPUSH', probe),
    ];
  }

  private newGeneration(token: string, plan = this.options.plan): StoredGeneration {
    return createGeneration(token, plan, this.options);
  }
}

/**
 * The model is that of RedisBloom. valkey-bloom does not halve the error rate of the first link: up to twice
 * as many pass there.
 */
function shapeOf(settings: BfSettings, count: number, bytes: number): FilterShape {
  const { capacity, errorRate, expansion, nonScaling } = settings;
  const plan = redisBloomCodec.plan({ capacity, errorRate, expansion, nonScaling });
  return {
    hashCount: plan.hashCount,
    bytes,
    modelledErrorRate: redisBloomCodec.expectedErrorRate(plan, count),
  };
}
