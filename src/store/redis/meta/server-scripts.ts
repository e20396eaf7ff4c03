import type { RedisConnection } from '../client/redis-connection.js';
import type { DistrustPauses } from '../../index.js';
import { defineScripts } from '../client/script.js';
import { coreLua } from '../lua/core.generated.js';
import type { RedisKeys } from './redis-keys.js';

/** Pauses of rebuilds by processes that spell ids in different ways, after the first one. */
const FIRST_CONTEST_PAUSE_MS = 60_000;
const LAST_CONTEST_PAUSE_MS = 900_000;

const SCRIPTS = defineScripts(coreLua, [
  'claim',
  'contest',
  'describe',
  'distrust',
  'epoch',
  'setup',
  'trust',
]);

/** The scripts that filters of every kind share. */
export class ServerScripts {
  constructor(readonly connection: RedisConnection) {}

  /** Longest time that an add waits for the server. */
  get writeTimeoutMs(): number {
    return this.connection.writeTimeoutMs;
  }

  /**
   * @param isRunKnown leaves out which run of the server answers: it costs the server more than all the rest.
   * @param modeKey key of the mode of all processes, to read that as well
   */
  async describe(
    meta: string,
    isRunKnown: boolean,
    modeKey?: string,
  ): Promise<{ runId: string; type: string; mode: string; fields: string[] }> {
    const keys = modeKey === undefined ? [meta] : [meta, modeKey];
    const reply = await this.connection.run(SCRIPTS.describe, keys, [isRunKnown ? 1 : 0]);
    const [runId = '', type = 'none', mode = '', ...fields] = (reply as Buffer[]).map(String);
    return { runId, type, mode, fields };
  }

  /** Claims a filter for an application, unless it is claimed; returns whose it is now, '' for none. */
  async claim(meta: string, owner: string, format: string): Promise<{ owner: string; isNew: boolean }> {
    const [found, isNew] = (await this.connection.run(SCRIPTS.claim, [meta], [owner, format])) as [
      Buffer,
      number,
    ];
    return { owner: String(found), isNew: isNew === 1 };
  }

  /** The epoch of a partitioned filter, '' for none. @param next replaces `before`, if it is given */
  async epoch(key: string, before: string, next: string): Promise<string> {
    return String(await this.connection.run(SCRIPTS.epoch, [key], [before, next]));
  }

  /** Notes what the live generation holds; false: another one is live, or another process has noted it. */
  async trust(
    meta: string,
    known: { readonly sum: string; readonly contents: string },
    contents: string,
  ): Promise<boolean> {
    const args = [known.sum, known.contents, contents];
    return String(await this.connection.run(SCRIPTS.trust, [meta], args)) === 'OK';
  }

  /** False: less than the pause has passed since a process distrusted the filter. */
  async mayDistrust(builds: string, { firstMs, lastMs }: DistrustPauses): Promise<boolean> {
    return Number(await this.connection.run(SCRIPTS.distrust, [builds], [firstMs, lastMs])) === 1;
  }

  /** Notes that this build is live and of no use to this process: further builds for this reason wait. */
  async contest(builds: string, build: string): Promise<void> {
    const args = [build, FIRST_CONTEST_PAUSE_MS, LAST_CONTEST_PAUSE_MS];
    await this.connection.run(SCRIPTS.contest, [builds], args);
  }

  /** The setup of the server as INFO reports it. */
  async askSetup(keys: Pick<RedisKeys, 'probe'>): Promise<ReadonlyMap<string, string>> {
    const reply = await this.connection.run(SCRIPTS.setup, [keys.probe], []);
    const lines = String(reply)
      .split('\r\n')
      .filter((line) => line.includes(':'));
    return new Map(
      lines.map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1)]),
    );
  }
}
