import { randomBytes } from 'node:crypto';
import { BloomRebuildError } from 'nestjs-bloom/store';
import { LAYOUT_NUMBERS } from '../../formats/layout-numbers.js';
import { GENERATION_FORMAT, generationFields, liveFields } from '../generation/generation-meta.js';
import type { GenerationKeys } from '../generation/generation-keys.js';
import {
  asBuffer,
  assertRefusal,
  defineScripts,
  type RedisConnection,
  type Refusal,
  REFUSALS,
  RETIRED_LIFE_MS,
  runStep,
  wordIn,
} from 'nestjs-bloom/internal';
import type { CommandId } from '../generation/command-ids.js';
import { bfLua } from '../../lua/bf.generated.js';
import { ADDS_DID_NOT_FIT } from './bf.messages.js';
import type { ResolvedBf } from './resolved-bf.js';
import { parseExists, parseInsert } from './replies.js';

/** `TYPE`: the key of the live filter holds something else, which is left alone. */
export type BfRefusal = Refusal | 'TYPE';

/** What a step of a rebuild shows and keeps alive. */
export interface BfStep {
  /** Token of the lease. */
  readonly lease: string;
  /** Key of the staged filter. */
  readonly key: string;
  readonly lifeMs: number;
}

/** One typed function for each script on filters of `BF.*` commands. */
export class BfScripts {
  private readonly script = defineScripts(bfLua, SCRIPT_NAMES);
  private readonly markBase = randomBytes(12).toString('base64url');
  private marks = 0;

  constructor(
    private readonly connection: RedisConnection,
    private readonly keys: GenerationKeys,
  ) {}

  /** For each id whether the filter holds it, or why the filter does not answer. */
  async check(
    { generation, canaries, key }: ResolvedBf,
    field: string,
    ids: readonly CommandId[],
  ): Promise<boolean[] | 'STALE' | 'LOST'> {
    const reply = await this.connection.runRead(
      this.script.bfCheck,
      [this.keys.meta, key],
      [field, generation.token, canaries.length, ...canaries, ...ids],
    );
    if (!Array.isArray(reply)) return wordIn(OUTDATED, this.script.bfCheck, reply);
    return parseExists(reply, canaries.length + ids.length).slice(canaries.length);
  }

  /**
   * For each id whether it was not there before; without a live generation, true.
   *
   * @throws {BloomFullError} when the filter does not scale and is full.
   */
  async add(
    live: ResolvedBf | undefined,
    staging: ResolvedBf | undefined,
    ids: readonly CommandId[],
  ): Promise<boolean[] | 'STALE' | 'LOST'> {
    const { keys } = this;
    const stagingToken = staging?.generation.token ?? '';
    const canaries = live?.canaries ?? [];
    const reply = await this.connection.run(
      this.script.bfAdd,
      [keys.meta, keys.data, ...(staging ? [this.journal(stagingToken)] : [])],
      [live?.generation.token ?? '', stagingToken, canaries.length, this.nextMark(), ...canaries, ...ids],
    );
    if (!Array.isArray(reply)) return wordIn(OUTDATED, this.script.bfAdd, reply);
    if (reply.length === 0) return ids.map(() => true);
    return parseInsert(reply, ids.length);
  }

  /**
   * @param reserve what `BF.RESERVE` takes after the key, for a filter to be made when there is none
   * @throws {BloomFullError} when the filter does not scale and is full.
   */
  async adopt(
    { generation, canaries, key, settings }: ResolvedBf,
    states: readonly string[],
    reserve: readonly string[],
    owner: string | undefined,
  ): Promise<'OK' | 'STALE' | 'MISSING'> {
    const { capacity, errorRate } = settings;
    const reply = await this.connection.run(
      this.script.bfAdopt,
      [this.keys.meta, key],
      [
        ` ${states.join(' ')} `,
        GENERATION_FORMAT,
        canaries.length,
        reserve.length,
        generation.token,
        ...canaries,
        ...reserve,
        ...generationFields(generation, LAYOUT_NUMBERS.redisbloom),
        'capacity',
        capacity,
        'errorRate',
        errorRate,
        'builtAt',
        Date.now(),
        ...(owner === undefined ? [] : ['owner', owner]),
      ],
    );
    if (Array.isArray(reply)) parseInsert(reply, canaries.length);
    return wordIn(['OK', 'STALE', 'MISSING'], this.script.bfAdopt, reply);
  }

  /** Where the ids are noted that are added while this generation is staged. */
  journal(token: string): string {
    return this.keys.stagingPart(token, 'journal');
  }

  async stage({ lease, lifeMs }: BfStep, token: string): Promise<BfRefusal | 'OK'> {
    const keys = [this.keys.lease, this.journal(token), this.keys.data];
    return runStep(this.connection, this.script.bfStage, keys, [lease, token, lifeMs], ['TYPE']);
  }

  async load({ lease, key, lifeMs }: BfStep, iterator: number, data: Uint8Array): Promise<Refusal | 'OK'> {
    const keys = [this.keys.lease, key];
    const args = [lease, iterator, asBuffer(data), lifeMs];
    return runStep(this.connection, this.script.bfLoad, keys, args);
  }

  async reserve({ lease, key, lifeMs }: BfStep, reserve: readonly string[]): Promise<Refusal | 'OK'> {
    const keys = [this.keys.lease, key];
    return runStep(this.connection, this.script.bfReserve, keys, [lease, lifeMs, ...reserve]);
  }

  /** @throws {BloomFullError} when the staged filter does not scale and is full. */
  async insert({ lease, key, lifeMs }: BfStep, ids: readonly CommandId[]): Promise<Refusal | 'OK'> {
    const keys = [this.keys.lease, key];
    const reply = await this.connection.run(this.script.bfInsert, keys, [lease, lifeMs, ...ids]);
    if (!Array.isArray(reply)) return assertRefusal(this.script.bfInsert, reply);
    parseInsert(reply, ids.length);
    return 'OK';
  }

  /**
   * How many ids of the journal were added to the staged filter.
   *
   * @throws {BloomFullError} when that does not scale and is full.
   */
  async replay(
    { lease, key, lifeMs }: BfStep,
    { token, from, count }: { token: string; from: number; count: number },
  ): Promise<Refusal | number> {
    const keys = [this.keys.lease, this.journal(token), key];
    const reply = await this.connection.run(this.script.bfReplay, keys, [lease, from, count, lifeMs]);
    if (!Array.isArray(reply)) return assertRefusal(this.script.bfReplay, reply);
    const [read, inserted] = [Number(reply[0]), reply[1] as unknown];
    if (read > 0) parseInsert(inserted, read);
    return read;
  }

  /** @throws {BloomRebuildError} when ids of the journal do not fit into the staged filter. */
  async swap(
    { lease, key }: Omit<BfStep, 'lifeMs'>,
    made: {
      readonly staging: ResolvedBf;
      readonly runId: string;
      readonly live: ResolvedBf | undefined;
      readonly replayed: number;
      readonly ids: number;
    },
  ): Promise<BfRefusal | 'OK'> {
    const { keys } = this;
    const { staging, runId, live, replayed, ids } = made;
    const { generation, canaries, settings } = staging;
    const { token } = generation;
    const reply = await this.connection.run(
      this.script.bfSwap,
      [keys.meta, keys.lease, this.journal(token), key, keys.data, keys.retired(token)],
      [
        lease,
        token,
        runId,
        live?.generation.token ?? '',
        replayed,
        RETIRED_LIFE_MS,
        ids,
        canaries.length,
        ...canaries,
        ...liveFields(generation, LAYOUT_NUMBERS.redisbloom, {
          runId,
          ids,
          capacity: settings.capacity,
          errorRate: settings.errorRate,
        }),
      ],
    );
    if (Array.isArray(reply)) throw journalOverflow();
    return wordIn([...REFUSALS, 'OK', 'TYPE'], this.script.bfSwap, reply);
  }

  /** What the server says of each command when it is tried; '' when nothing. */
  async askCommands(commands: readonly string[]): Promise<string[]> {
    const reply = await this.connection.run(this.script.bfCommands, [this.keys.probe], commands);
    return (reply as unknown[]).map(String);
  }

  /**
   * A text that was never added: the script adds it when only that distinguishes the filter from an older
   * copy of it.
   */
  private nextMark(): string {
    return `${this.markBase}:${this.marks++}:`;
  }
}

export function journalOverflow(cause?: unknown): BloomRebuildError {
  return new BloomRebuildError('too-many-ids', ADDS_DID_NOT_FIT, { cause });
}

const OUTDATED = ['STALE', 'LOST'] as const;

const SCRIPT_NAMES = [
  'bfCheck',
  'bfAdd',
  'bfAdopt',
  'bfStage',
  'bfLoad',
  'bfReserve',
  'bfInsert',
  'bfReplay',
  'bfSwap',
  'bfCommands',
] as const;
