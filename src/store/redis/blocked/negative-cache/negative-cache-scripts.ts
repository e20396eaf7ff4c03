import type { NegativeCacheTable } from './negative-cache-table.js';
import type { RedisConnection } from '../../client/redis-connection.js';
import { defineScripts } from '../../client/script.js';
import { coreLua } from '../../lua/core.generated.js';
import type { RedisKeys } from '../../protocol/redis-keys.js';

/** A bucket of the table of the negative cache, and what to look for in it. */
export interface DenialRecord {
  readonly bucket: number;
  readonly digest: Buffer;
}

/** The scripts on the table of the negative cache; `add`, `swap` and `offline` see to it too. */
export class NegativeCacheScripts {
  private readonly scripts = defineScripts(coreLua, [
    'negativeCacheCreate',
    'negativeCacheAsk',
    'negativeCacheNote',
  ]);

  constructor(private readonly connection: RedisConnection) {}

  /**
   * Makes the table of the negative cache of the live generation in the place of the one before, if there was one; nothing when the metadata
   * name others by now.
   */
  async create(
    keys: RedisKeys,
    options: { storedTag: string; before: string; table: NegativeCacheTable; markLifeMs: number },
  ): Promise<void> {
    const { storedTag, before, table, markLifeMs } = options;
    await this.connection.run(
      this.scripts.negativeCacheCreate,
      [keys.meta, keys.negativeCache],
      [storedTag, before, table.text, table.buckets, markLifeMs],
    );
  }

  /** Which of the ids are denied, a character for each, and the time of the server in milliseconds. */
  async ask(
    keys: RedisKeys,
    table: NegativeCacheTable,
    asked: readonly DenialRecord[],
  ): Promise<'STALE' | 'LOST' | { now: string; flags: string }> {
    const records = asked.map(({ bucket, digest }) => {
      const record = Buffer.allocUnsafe(4 + digest.length);
      digest.copy(record, record.writeUInt32BE(bucket));
      return record;
    });
    const reply = await this.connection.runRead(
      this.scripts.negativeCacheAsk,
      [keys.meta, keys.negativeCache],
      [table.text, Buffer.concat(records)],
    );
    if (!Array.isArray(reply)) return String(reply) as 'STALE' | 'LOST';
    return { now: String(reply[0]), flags: String(reply[1]) };
  }

  /** Notes a denial for a lookup that asked the database at `askedAt`, the time that `negative-cache-ask` has answered. */
  async note(
    keys: RedisKeys,
    options: DenialRecord & { table: NegativeCacheTable; askedAt: string; lifeMs: number },
  ): Promise<void> {
    const { table, bucket, digest, askedAt, lifeMs } = options;
    await this.connection.run(
      this.scripts.negativeCacheNote,
      [keys.meta, keys.negativeCache],
      [table.text, bucket, digest, askedAt, lifeMs],
    );
  }
}
