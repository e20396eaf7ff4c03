import { createHash } from 'node:crypto';
import { BloomUnavailableError, describeError } from '../../../common/index.js';
import {
  type MarksAnswer,
  type MarksUpdate,
  type MarksQuestion,
  MarksRefusedError,
  type OpenFilterOptions,
  type HighWaterMarks,
} from '../../index.js';
import { isRefusal } from '../client/server-replies.js';
import type { RedisConnection } from '../client/redis-connection.js';
import { defineScripts } from '../client/script.js';
import { unexpectedReplyError } from '../client/server-replies.js';
import { coreLua } from '../lua/core.generated.js';
import { marksOfOthers, marksRefused, notNoted } from './board.messages.js';

const META = ':meta';
const SCRIPTS = defineScripts(coreLua, ['outsideAsk', 'outsideNote']);

export interface RedisMarksContext {
  readonly name: string;
  readonly connection: RedisConnection;
  /** Key of the metadata, which ends with `:meta`. */
  readonly meta: string;
  /** This application; undefined: whose filter it is does not matter. */
  readonly owner: string | undefined;
  /** Left out: all processes have the same. */
  readonly contents?: OpenFilterOptions['contents'];
}

/** The marks of one filter in Redis, beside its metadata, in the same hash slot. */
export class RedisHighWaterMarks implements HighWaterMarks {
  constructor(private readonly context: RedisMarksContext) {}

  /**
   * A mark is one of certain rows, in the order of their keys: processes with other contents have marks of
   * their own. One process follows for all.
   */
  private async keys(): Promise<readonly string[]> {
    const { meta, contents } = this.context;
    const outside = `${meta.slice(0, -META.length)}:outside`;
    const { spelling, rows = '' } = (await contents?.()) ?? {};
    const of = spelling === undefined ? '' : `:${digestOf(`${spelling} ${rows}`)}`;
    return [meta, `${outside}${of}`, `${outside}:holder`];
  }

  async ask({ holder, lifeMs }: MarksQuestion): Promise<MarksAnswer> {
    const reply = await this.run('outsideAsk', [holder, lifeMs]);
    if (!Array.isArray(reply)) throw unexpectedReplyError('outside-ask', reply);
    const [holds, mark, newest, position, gaps, doubt, at, time] = reply.map(
      (text) => String(text) || undefined,
    );
    if (holds === 'OWNER') throw new BloomUnavailableError(marksOfOthers(this.context.name));
    return {
      isHolder: holds === '1',
      entries: { mark, newest, position, gaps, doubt },
      ageMs: at && time ? Math.max(0, Number(time) - Number(at)) : undefined,
    };
  }

  async record({ holder = '', expectedMark, entries }: MarksUpdate): Promise<boolean> {
    const fields = Object.entries(entries).flatMap(([field, value]) =>
      value === undefined ? [] : [field, value as string],
    );
    const isMarkExpected = expectedMark === undefined ? '' : '1';
    const outcome = String(
      await this.run('outsideNote', [holder, isMarkExpected, expectedMark ?? '', ...fields]),
    );
    if (outcome === 'OWNER') throw new BloomUnavailableError(marksOfOthers(this.context.name));
    return outcome === 'OK';
  }

  private async run(script: keyof typeof SCRIPTS, args: readonly (string | number)[]): Promise<unknown> {
    const { connection, owner = '', name } = this.context;
    try {
      return await connection.run(SCRIPTS[script], await this.keys(), [owner, ...args]);
    } catch (error) {
      if (error instanceof BloomUnavailableError) throw error;
      const text = describeError(error);
      if (isRefusal(text)) throw new MarksRefusedError(marksRefused(name, text), { cause: error });
      throw new BloomUnavailableError(notNoted(name, text), { cause: error });
    }
  }
}

function digestOf(text: string): string {
  return createHash('sha1').update(text).digest('hex').slice(0, 8);
}
