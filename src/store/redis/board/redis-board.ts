import { BloomUnavailableError, describeError } from '../../../common/index.js';
import {
  type BoardContents,
  type BoardMode,
  type BoardNews,
  BoardRefusedError,
  type EndedRun,
  type InstanceBeat,
  type InstanceBoard,
  LONGEST_LIFE_MS,
  RUNS_KEPT,
} from '../../index.js';
import { beatUnanswered, boardOfOthers, boardRefused, notWritten } from './board.messages.js';
import type { RedisConnection } from '../client/redis-connection.js';
import { defineScripts } from '../client/script.js';
import { isRefusal, unexpectedReplyError } from '../client/server-replies.js';
import { coreLua } from '../lua/core.generated.js';

/** Processes that are kept: each start of one is another, and some start again and again. */
const MOST_INSTANCES = 500;
/** A beat of a process in so many, and its first, also removes those that have gone. */
const BEATS_PER_REMOVAL = 10;
/** While the circuit is open a beat in so many is sent: without lookups nothing else would close it. */
const BEATS_PER_TRIAL = 5;
const RUNS_LIFE_MS = 30 * 24 * 3_600_000;
/** Reports that one script returns. */
const REPORTS_AT_ONCE = 50;

const SCRIPTS = defineScripts(coreLua, [
  'boardBeat',
  'boardLeave',
  'boardMode',
  'boardRead',
  'boardReports',
  'boardRun',
  'boardStop',
]);

export interface RedisBoardContext {
  readonly name: string;
  readonly connection: RedisConnection;
  /** Key of the metadata. */
  readonly meta: string;
  /** This application; undefined: whose filter it is does not matter. */
  readonly owner: string | undefined;
  /** Reads the mode of all processes with each look at the metadata. */
  readonly metadata: {
    followMode(key: string, onMode: (record: string) => void): void;
    refresh(): Promise<void>;
  };
}

/** The board of one filter in Redis. */
export class RedisBoard implements InstanceBoard {
  private readonly keys: BoardKeys;
  private readonly owner: string;
  private isUnderWay = false;
  private beats = 0;
  private skipped = 0;
  /** What the server has of this process. */
  private reported = '';

  constructor(private readonly context: RedisBoardContext) {
    this.keys = new BoardKeys(context.meta);
    this.owner = context.owner ?? '';
  }

  async beat(beat: InstanceBeat): Promise<BoardNews | undefined> {
    const { connection, name, meta } = this.context;
    if (connection.isCircuitOpen(meta) && ++this.skipped % BEATS_PER_TRIAL !== 0) return undefined;
    if (this.isUnderWay) throw new BloomUnavailableError(beatUnanswered(name));
    const news = await this.sendBeat(beat);
    // The server had nothing of this process any more.
    return news ?? (await this.sendBeat(beat));
  }

  followMode(onMode: (mode: BoardMode | undefined) => void): void {
    this.context.metadata.followMode(this.keys.mode, (record) => onMode(modeOf(record)));
  }

  look(): Promise<void> {
    return this.explained(this.context.metadata.refresh());
  }

  async leave(instance: string): Promise<void> {
    const { instances } = this.keys;
    await this.run('boardLeave', [instances, this.keys.report(instance)], [instance]);
  }

  async recordRun({ id, text }: EndedRun): Promise<void> {
    const { running, rebuilds } = this.keys;
    await this.run('boardRun', [running, rebuilds], [id, text, RUNS_KEPT, RUNS_LIFE_MS]);
  }

  async read(): Promise<BoardContents> {
    const { meta, instances, mode, running, rebuilds } = this.keys;
    const keys = [meta, instances, mode, running, rebuilds];
    const reply = partsOf(await this.run('boardRead', keys, [this.owner]), 'board-read');
    this.assertOurs(reply[0]);
    const [, time, seen, modeText, runningText, runs] = reply;
    const alive = timed(seen as string[]).filter(({ rest }) => Number(rest) >= Number(time));
    const texts = await this.reports(alive.map((one) => one.name));
    return {
      instances: alive
        .map(({ name, at }, i) => ({ id: name, seenAt: at, text: texts[i]! }))
        .filter(({ text }) => text !== ''),
      runs: timed(runs as string[]).map(({ rest }) => rest),
      running: runningText === '' ? undefined : (runningText as string),
      mode: modeOf(modeText as string),
    };
  }

  async setMode({ mode, by }: Omit<BoardMode, 'at'>, after: number): Promise<BoardMode> {
    const args = [this.owner, storedMode(mode), by, after];
    const reply = partsOf(await this.run('boardMode', [this.keys.meta, this.keys.mode], args), 'board-mode');
    this.assertOurs(reply[0]);
    const record = modeOf(String(reply[1]));
    if (!record) throw unexpectedReplyError('board-mode', reply[1]);
    return record;
  }

  async askToStop(by: string): Promise<boolean> {
    const reply = String(await this.run('boardStop', [this.keys.meta, this.keys.running], [this.owner, by]));
    this.assertOurs(reply);
    return reply === 'OK';
  }

  /** Undefined when the server has nothing of this process to prolong. */
  private async sendBeat(beat: InstanceBeat): Promise<BoardNews | undefined> {
    const { connection } = this.context;
    const { meta, instances, mode, running, rebuilds } = this.keys;
    const { instance, text, lifeMs, run } = beat;
    const isSame = text === this.reported;
    this.reported = '';
    this.isUnderWay = true;
    const { reply, settled } = connection.send(
      SCRIPTS.boardBeat,
      [meta, instances, this.keys.report(instance), mode, running, rebuilds],
      [
        this.owner,
        instance,
        isSame ? '' : text,
        lifeMs,
        LONGEST_LIFE_MS,
        this.beats++ % BEATS_PER_REMOVAL === 0 ? MOST_INSTANCES : '',
        textOfMode(beat.mode),
        run?.id ?? '',
        run?.text ?? '',
        run?.lifeMs ?? '',
      ],
      (value) => partsOf(value, 'board-beat'),
    );
    void settled.then(() => (this.isUnderWay = false));
    const [outcome, modeText, stopBy, failed] = (await this.explained(reply)) as string[];
    this.assertOurs(outcome);
    if (outcome === 'TEXT') return undefined;
    if (!failed) this.reported = text;
    return {
      mode: modeOf(modeText!),
      stopBy: stopBy === '' ? undefined : stopBy,
      failure: failed ? this.failureOf(failed) : undefined,
    };
  }

  private async reports(instances: readonly string[]): Promise<string[]> {
    const keys = instances.map((instance) => this.keys.report(instance));
    const texts: string[] = [];
    for (let at = 0; at < keys.length; at += REPORTS_AT_ONCE) {
      const reply = await this.run('boardReports', keys.slice(at, at + REPORTS_AT_ONCE), []);
      texts.push(...(partsOf(reply, 'board-reports') as string[]));
    }
    return texts;
  }

  private run(
    script: keyof typeof SCRIPTS,
    keys: readonly string[],
    args: readonly (string | number)[],
  ): Promise<unknown> {
    return this.explained(this.context.connection.run(SCRIPTS[script], keys, args));
  }

  /** Whatever the cause, the caller gets an error that says what it means for a board. */
  private async explained<Reply>(reply: Promise<Reply>): Promise<Reply> {
    try {
      return await reply;
    } catch (error) {
      throw error instanceof BloomUnavailableError ? error : this.failureOf(describeError(error), error);
    }
  }

  private failureOf(error: string, cause?: unknown): BloomUnavailableError {
    const { name } = this.context;
    if (isRefusal(error)) return new BoardRefusedError(boardRefused(name, error), { cause });
    return new BloomUnavailableError(notWritten(name, error), { cause });
  }

  /** @throws {BloomUnavailableError} when the filter belongs to another application. */
  private assertOurs(outcome: unknown): void {
    if (outcome === 'OWNER') throw new BloomUnavailableError(boardOfOthers(this.context.name));
  }
}

const META = ':meta';

/** Names of the keys of a board. They stand beside the metadata of its filter, in the same hash slot. */
export class BoardKeys {
  readonly instances: string;
  readonly mode: string;
  readonly running: string;
  /** Rebuilds that have ended. */
  readonly rebuilds: string;
  private readonly base: string;

  /** @param meta the key of the metadata, which ends with `:meta` */
  constructor(readonly meta: string) {
    this.base = meta.slice(0, -META.length);
    this.instances = `${this.base}:instances`;
    this.mode = `${this.base}:mode`;
    this.running = `${this.base}:running`;
    this.rebuilds = `${this.base}:rebuilds`;
  }

  /** What one process reports. */
  report(instance: string): string {
    return `${this.base}:instance:${instance}`;
  }
}

/** A mode that was withdrawn, where it is stored. */
const NONE = '-';

/** As it is stored, 'time mode by'; '' for none. */
export function textOfMode(mode: BoardMode | undefined): string {
  return mode ? `${mode.at} ${storedMode(mode.mode)} ${mode.by}` : '';
}

export function storedMode(mode: string | undefined): string {
  return mode ?? NONE;
}

/** Undefined for a text that is no such record. */
export function modeOf(text: string): BoardMode | undefined {
  const [, at, mode, by] = /^(\d+) ([\w-]+) (.*)$/s.exec(text) ?? [];
  if (at === undefined || mode === undefined || by === undefined) return undefined;
  return { at: Number(at), mode: mode === NONE ? undefined : mode, by };
}

/** The values of a hash that begin with a time, by that time, the latest first. */
export function timed(
  fields: readonly string[],
): { readonly name: string; readonly at: number; readonly rest: string }[] {
  const found = [];
  for (let i = 0; i + 1 < fields.length; i += 2) {
    const [, at, rest = ''] = /^(\d+) (.*)$/s.exec(fields[i + 1]!) ?? [];
    if (at !== undefined) found.push({ name: fields[i]!, at: Number(at), rest });
  }
  return found.sort((one, other) => other.at - one.at || (other.name < one.name ? -1 : 1));
}

/** The parts of a reply that is a list, texts but for lists within it. */
export function partsOf(reply: unknown, script: string): (string | string[])[] {
  if (!Array.isArray(reply)) throw unexpectedReplyError(script, reply);
  return reply.map((part: unknown) => (Array.isArray(part) ? part.map(String) : String(part)));
}
