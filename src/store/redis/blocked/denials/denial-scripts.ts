import type { DenialTableName } from './denial-table-name.js';
import { type RedisConnection, Script } from '../../client/redis-connection.js';
import type { RedisKeys } from '../../protocol/redis-keys.js';
import type { LuaSources } from '../redis-scripts.js';
import { luaSources } from '../../scripts.generated.js';

/** A bucket of the table of denials, and what to look for in it. */
export interface DenialRecord {
  readonly bucket: number;
  readonly digest: Buffer;
}

/** The scripts on the table of denials; `add`, `swap` and `offline` see to it too. */
export class DenialScripts {
  private readonly shareScript: Script;
  private readonly deniedScript: Script;
  private readonly denyScript: Script;

  constructor(
    private readonly connection: RedisConnection,
    sources: LuaSources = luaSources,
  ) {
    this.shareScript = new Script('share', sources.share.source);
    this.deniedScript = new Script('denied', sources.denied.source);
    this.denyScript = new Script('deny', sources.deny.source);
  }

  /**
   * Makes the table of denials of the live generation in the place of the one before, if there was one; nothing when the metadata
   * name others by now.
   */
  async share(
    keys: RedisKeys,
    options: { liveTag: string; before: string; denials: DenialTableName; markLifeMs: number },
  ): Promise<void> {
    const { liveTag, before, denials, markLifeMs } = options;
    await this.connection.run(
      this.shareScript,
      [keys.meta, keys.denials],
      [liveTag, before, denials.text, denials.buckets, markLifeMs],
    );
  }

  /** Which of the ids are denied, a character for each, and the time of the server in milliseconds. */
  async denied(
    keys: RedisKeys,
    denials: DenialTableName,
    asked: readonly DenialRecord[],
  ): Promise<'STALE' | 'LOST' | { now: string; flags: string }> {
    const records = asked.map(({ bucket, digest }) => {
      const record = Buffer.allocUnsafe(4 + digest.length);
      digest.copy(record, record.writeUInt32BE(bucket));
      return record;
    });
    const reply = await this.connection.runRead(
      this.deniedScript,
      [keys.meta, keys.denials],
      [denials.text, Buffer.concat(records)],
    );
    if (!Array.isArray(reply)) return String(reply) as 'STALE' | 'LOST';
    return { now: String(reply[0]), flags: String(reply[1]) };
  }

  /** Notes a denial of who asked the database at `askedAt`, which `denied` has told. */
  async deny(
    keys: RedisKeys,
    options: DenialRecord & { denials: DenialTableName; askedAt: string; lifeMs: number },
  ): Promise<void> {
    const { denials, bucket, digest, askedAt, lifeMs } = options;
    await this.connection.run(
      this.denyScript,
      [keys.meta, keys.denials],
      [denials.text, bucket, digest, askedAt, lifeMs],
    );
  }
}
