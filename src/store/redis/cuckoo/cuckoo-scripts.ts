import { randomBytes } from 'node:crypto';
import { BloomFullError, BloomUnavailableError } from '../../../common/index.js';
import { type IdKey, LAYOUT_NUMBERS } from '../../../filter/index.js';
import type { GenerationRole, Outdated } from '../companion/companion-driver.js';
import { COMPANION_FORMAT, generationFields } from '../companion/companion-meta.js';
import { type RedisConnection, Script } from '../redis-connection.js';
import type { LuaSources, Refusal } from '../redis-scripts.js';
import { luaSources } from '../scripts.generated.js';
import type { CuckooKeys } from './cuckoo-keys.js';
import { fingerprintName, type PlacedCuckoo, reserveArguments } from './placed-cuckoo.js';

const SCRIPTS = ['cfCheck', 'cfAdd', 'cfRemove', 'cfStage', 'cfInsert', 'cfSwap', 'cfInfo'] as const;

/** Far longer than a client goes on sending a command again. */
const REMOVAL_LIFE_MS = 60_000;

/** What a step of a rebuild shows and keeps alive. */
export interface CuckooStep {
  readonly lease: string;
  readonly lifeMs: number;
}

/** One typed function for each script on cuckoo filters. */
export class CuckooScripts {
  private readonly script: Record<(typeof SCRIPTS)[number], Script>;

  constructor(
    private readonly connection: RedisConnection,
    private readonly keys: CuckooKeys,
    sources: LuaSources = luaSources,
  ) {
    const scripts = SCRIPTS.map((name) => [name, new Script(name, sources[name].source)]);
    this.script = Object.fromEntries(scripts) as typeof this.script;
  }

  /** For each id whether the filter holds it. */
  async check(
    { generation, canaries, key }: PlacedCuckoo,
    ids: readonly IdKey[],
    role: GenerationRole,
  ): Promise<boolean[] | Outdated> {
    const field = role === 'live' ? 'token' : 'pending.token';
    const reply = await this.connection.runRead(
      this.script.cfCheck,
      [this.keys.meta, key],
      [field, generation.token, canaries.length, ...canaries, ...ids.map(itemOf)],
    );
    if (!Array.isArray(reply)) return String(reply) as Outdated;
    if (reply.length !== canaries.length + ids.length) throw unexpected('CF.MEXISTS', reply);
    return reply.slice(canaries.length).map((one: unknown) => {
      if (one !== 0 && one !== 1 && one !== '0' && one !== '1') throw unexpected('CF.MEXISTS', one);
      return Number(one) === 1;
    });
  }

  /**
   * For each id whether it was not there before; without a generation, true.
   *
   * @throws {BloomFullError}
   */
  async add(
    live: PlacedCuckoo | undefined,
    staged: PlacedCuckoo | undefined,
    ids: readonly IdKey[],
  ): Promise<boolean[] | Outdated> {
    const none = this.keys.generation('none');
    const reply = await this.connection.run(
      this.script.cfAdd,
      [this.keys.meta, live?.key ?? none, live?.kept ?? none, staged?.key ?? none, staged?.kept ?? none],
      [
        live?.generation.token ?? '',
        staged?.generation.token ?? '',
        live?.canaries.length ?? 0,
        staged?.canaries.length ?? 0,
        ...(live?.canaries ?? []),
        ...(staged?.canaries ?? []),
        ...ids.flatMap((id) => [itemOf(id), nameIn(live, id), nameIn(staged, id)]),
      ],
    );
    if (Array.isArray(reply)) {
      const flags = String(reply[0]);
      return ids.map((_, i) => flags[i] !== '0');
    }
    if (String(reply) === 'FULL') throw full();
    return String(reply) as Outdated;
  }

  /**
   * For each id whether it was removed.
   *
   * @param settleMs for how long nothing is removed from a generation that went live
   */
  async remove(live: PlacedCuckoo, ids: readonly IdKey[], settleMs: number): Promise<boolean[] | Outdated> {
    const { generation, canaries, key, kept } = live;
    const reply = await this.connection.run(
      this.script.cfRemove,
      [this.keys.meta, key, kept, this.keys.removal(randomBytes(8).toString('hex'))],
      [
        generation.token,
        canaries.length,
        REMOVAL_LIFE_MS,
        settleMs,
        ...canaries,
        ...ids.flatMap((id) => [itemOf(id), fingerprintName(live, id)]),
      ],
    );
    if (!Array.isArray(reply)) return String(reply) as Outdated;
    return Array.from(String(reply[0]), (flag) => flag === '1');
  }

  async stage({ lease, lifeMs }: CuckooStep, staged: PlacedCuckoo): Promise<Refusal | 'OK'> {
    const { key, kept, canaries } = staged;
    const keys = [this.keys.lease, key, kept];
    const args = [lease, lifeMs, canaries.length, ...canaries, ...reserveArguments(staged)];
    return String(await this.connection.run(this.script.cfStage, keys, args)) as Refusal | 'OK';
  }

  /** @throws {BloomFullError} */
  async insert(
    { lease, lifeMs }: CuckooStep,
    staged: PlacedCuckoo,
    ids: readonly Buffer[],
  ): Promise<Refusal | 'OK'> {
    const keys = [this.keys.lease, staged.key];
    const reply = String(await this.connection.run(this.script.cfInsert, keys, [lease, lifeMs, ...ids]));
    if (reply === 'FULL') throw full();
    return reply as Refusal | 'OK';
  }

  async swap(
    { generation, canaries, settings, key, kept }: PlacedCuckoo,
    { lease, runId, before, ids }: { lease: string; runId: string; before: string; ids: number },
  ): Promise<Refusal | 'OK'> {
    const reply = await this.connection.run(
      this.script.cfSwap,
      [this.keys.meta, this.keys.lease, key, kept],
      [
        lease,
        generation.token,
        runId,
        before,
        ids,
        canaries.length,
        ...canaries,
        'format',
        COMPANION_FORMAT,
        ...generationFields(generation, LAYOUT_NUMBERS.cuckoo),
        'runId',
        runId,
        'capacity',
        settings.capacity,
        'errorRate',
        settings.errorRate,
        'builtAt',
        Date.now(),
      ],
    );
    return String(reply) as Refusal | 'OK';
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

function nameIn(placed: PlacedCuckoo | undefined, id: IdKey): string {
  return placed ? fingerprintName(placed, id) : '';
}

function itemOf(id: IdKey): string | Buffer {
  return typeof id === 'string' ? id : Buffer.from(id.buffer, id.byteOffset, id.byteLength);
}

function full(): BloomFullError {
  return new BloomFullError(
    'Expected room in the cuckoo filter, found none: not every id was added. Rebuild it with a larger capacity.',
  );
}

function unexpected(command: string, reply: unknown): BloomUnavailableError {
  return new BloomUnavailableError(
    `Expected a reply of ${command} as the server documents it, got ${String(reply)}.`,
  );
}
