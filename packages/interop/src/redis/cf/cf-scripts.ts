import { randomBytes } from 'node:crypto';
import { BloomFullError, type IdKey } from 'nestjs-bloom/filter';
import { BloomUnavailableError } from 'nestjs-bloom/store';
import { LAYOUT_NUMBERS } from '../../formats/layout-numbers.js';
import { type GenerationRole, TOKEN_FIELDS } from '../generation/layout-driver.js';
import { commandId } from '../generation/command-ids.js';
import {
  defineScripts,
  type Outdated,
  type RedisConnection,
  type Refusal,
  runStep,
  unexpectedReplyError,
  wordIn,
} from 'nestjs-bloom/internal';
import { liveFields } from '../generation/generation-meta.js';
import { cfLua } from '../../lua/cf.generated.js';
import { FULL, removedTooLate } from './cf.messages.js';
import type { CfKeys } from './cf-keys.js';
import { fingerprintName, type ResolvedCf, reserveArguments } from './resolved-cf.js';

const SCRIPTS = [
  'cfCheck',
  'cfAdd',
  'cfClock',
  'cfRemove',
  'cfStage',
  'cfInsert',
  'cfSwap',
  'cfInfo',
] as const;

const OUTDATED = ['STALE', 'LOST'] as const;

/** For how long a removal may be carried out, and what came of it is known. */
const REMOVAL_LIFE_MS = 60_000;

/** What a step of a rebuild shows and keeps alive. */
export interface CfStep {
  readonly lease: string;
  readonly lifeMs: number;
}

/** When ids may be removed. */
export interface Removal {
  /** Time of the server when the removal was asked for: the rows were gone by then. */
  readonly beganAt: number;
  /** For how long nothing is removed from a generation that went live. */
  readonly settleMs: number;
}

/** One typed function for each script on cuckoo filters. */
export class CfScripts {
  private readonly script = defineScripts(cfLua, SCRIPTS);

  constructor(
    private readonly connection: RedisConnection,
    private readonly keys: CfKeys,
  ) {}

  /** For each id whether the filter holds it. */
  async check(
    { generation, canaries, key }: ResolvedCf,
    ids: readonly IdKey[],
    role: GenerationRole,
  ): Promise<boolean[] | Outdated> {
    const reply = await this.connection.runRead(
      this.script.cfCheck,
      [this.keys.meta, key],
      [TOKEN_FIELDS[role], generation.token, canaries.length, ...canaries, ...ids.map(commandId)],
    );
    if (!Array.isArray(reply)) return wordIn(OUTDATED, this.script.cfCheck, reply);
    if (reply.length !== canaries.length + ids.length) throw unexpectedReplyError('CF.MEXISTS', reply);
    return reply.slice(canaries.length).map((one: unknown) => {
      if (one !== 0 && one !== 1 && one !== '0' && one !== '1') throw unexpectedReplyError('CF.MEXISTS', one);
      return Number(one) === 1;
    });
  }

  /**
   * For each id whether it was not there before; without a generation, true.
   *
   * @throws {BloomFullError}
   */
  async add(
    live: ResolvedCf | undefined,
    staging: ResolvedCf | undefined,
    ids: readonly IdKey[],
  ): Promise<boolean[] | Outdated> {
    const none = this.keys.generation('none');
    const reply = await this.connection.run(
      this.script.cfAdd,
      [this.keys.meta, live?.key ?? none, live?.kept ?? none, staging?.key ?? none, staging?.kept ?? none],
      [
        live?.generation.token ?? '',
        staging?.generation.token ?? '',
        live?.canaries.length ?? 0,
        staging?.canaries.length ?? 0,
        ...(live?.canaries ?? []),
        ...(staging?.canaries ?? []),
        ...ids.flatMap((id) => [commandId(id), nameIn(live, id), nameIn(staging, id)]),
      ],
    );
    if (Array.isArray(reply)) {
      const flags = String(reply[0]);
      return ids.map((_, i) => flags[i] !== '0');
    }
    if (String(reply) === 'FULL') throw new BloomFullError(FULL);
    return wordIn(OUTDATED, this.script.cfAdd, reply);
  }

  /** Time of the server, in milliseconds. */
  async clock(): Promise<number> {
    return Number(await this.connection.run(this.script.cfClock, [this.keys.meta], []));
  }

  /**
   * For each id whether it was removed.
   *
   * @throws {BloomUnavailableError} when the call began so long ago that it is not known whether it was
   * carried out.
   */
  async remove(
    live: ResolvedCf,
    ids: readonly IdKey[],
    { beganAt, settleMs }: Removal,
  ): Promise<boolean[] | Outdated> {
    const { generation, canaries, key, kept } = live;
    const reply = await this.connection.run(
      this.script.cfRemove,
      [this.keys.meta, key, kept, this.keys.removal(randomBytes(8).toString('hex'))],
      [
        generation.token,
        canaries.length,
        REMOVAL_LIFE_MS,
        settleMs,
        beganAt,
        ...canaries,
        ...ids.flatMap((id) => [commandId(id), fingerprintName(live, id)]),
      ],
    );
    if (Array.isArray(reply)) return Array.from(String(reply[0]), (flag) => flag === '1');
    if (String(reply) !== 'LATE') return wordIn(OUTDATED, this.script.cfRemove, reply);
    throw new BloomUnavailableError(removedTooLate(REMOVAL_LIFE_MS));
  }

  async stage({ lease, lifeMs }: CfStep, staging: ResolvedCf): Promise<Refusal | 'OK'> {
    const { key, kept, canaries } = staging;
    const keys = [this.keys.lease, key, kept];
    const args = [lease, lifeMs, canaries.length, ...canaries, ...reserveArguments(staging)];
    return runStep(this.connection, this.script.cfStage, keys, args);
  }

  /** @throws {BloomFullError} */
  async insert(
    { lease, lifeMs }: CfStep,
    staging: ResolvedCf,
    ids: readonly Buffer[],
  ): Promise<Refusal | 'OK'> {
    const keys = [this.keys.lease, staging.key, staging.kept];
    const records = ids.flatMap((id) => [id, fingerprintName(staging, id)]);
    const args = [lease, lifeMs, ...records];
    const reply = await runStep(this.connection, this.script.cfInsert, keys, args, ['FULL']);
    if (reply === 'FULL') throw new BloomFullError(FULL);
    return reply;
  }

  async swap(
    { generation, canaries, settings, key, kept }: ResolvedCf,
    { lease, runId, live, ids }: { lease: string; runId: string; live: ResolvedCf | undefined; ids: number },
  ): Promise<Refusal | 'OK'> {
    return runStep(
      this.connection,
      this.script.cfSwap,
      [this.keys.meta, this.keys.lease, key, kept, ...(live ? [live.key, live.kept] : [])],
      [
        lease,
        generation.token,
        runId,
        live?.generation.token ?? '',
        ids,
        canaries.length,
        ...canaries,
        ...liveFields(generation, LAYOUT_NUMBERS.cuckoo, {
          runId,
          ids,
          capacity: settings.capacity,
          errorRate: settings.errorRate,
        }),
      ],
    );
  }

  /** What a filter holds; else the error of the server. */
  async info(key: string): Promise<{ fingerprints: number; bytes: number } | { error: string }> {
    const [error, fingerprints, bytes] = (await this.connection.run(
      this.script.cfInfo,
      [key],
      [],
    )) as unknown[];
    if (String(error) !== '') return { error: String(error) };
    return { fingerprints: Number(fingerprints), bytes: Number(bytes) };
  }
}

function nameIn(resolved: ResolvedCf | undefined, id: IdKey): string {
  return resolved ? fingerprintName(resolved, id) : '';
}
