import { createHash, randomBytes } from 'node:crypto';
import { type IdKey, idKeyText } from '../../../filter/index.js';
import type { RedisConnection } from '../client/redis-connection.js';
import { defineScripts } from '../client/script.js';
import { coreLua } from '../lua/core.generated.js';
import type { RedisKeys } from '../meta/redis-keys.js';

/** Denials that a bucket holds, of 108 bytes: the script `negative-cache-ask` describes its form. */
export const BUCKET_DENIALS = 4;
/** 2.6 MiB: making the table holds the server for a few milliseconds. */
export const MAX_BUCKETS = 25_000;
const DIGEST_BYTES = 16;

/**
 * What `meta` says of the table in which the denials of a generation are: `<tag> <random> <buckets> <run
 * id>`, the run id being that of the server which made it. A table belongs to one generation and to one run
 * of one server.
 */
export class NegativeCacheTable {
  private constructor(
    /** As `meta` holds it. */
    readonly text: string,
    readonly buckets: number,
    readonly runId: string,
  ) {}

  static create(buckets: number, runId: string): NegativeCacheTable {
    const random = randomBytes(16);
    // A tag is never 0: bytes that nobody has written are none.
    random[0]! |= 1;
    const hexadecimal = random.toString('hex');
    const text = `${hexadecimal.slice(0, 8)} ${hexadecimal.slice(8)} ${buckets} ${runId}`;
    return new NegativeCacheTable(text, buckets, runId);
  }

  /** Undefined if the text does not name a table. */
  static parse(text: string): NegativeCacheTable | undefined {
    const [, tag, buckets, runId] = /^([0-9a-f]{8}) [0-9a-f]{24} (\d{1,6}) (\w+)$/.exec(text) ?? [];
    if (tag === undefined || tag === '00000000') return undefined;
    const count = Number(buckets);
    if (count < 1 || count > MAX_BUCKETS) return undefined;
    return new NegativeCacheTable(text, count, runId!);
  }

  /**
   * The bucket of an id, for all spellings of it and whatever was asked of it. The random part of the name
   * keeps anybody from computing ids that share one.
   */
  bucketOf(id: IdKey): number {
    const hash = createHash('sha1').update(this.text).update(bytesOf(id)).digest();
    return Math.floor((hash.readUInt32BE() / 2 ** 32) * this.buckets);
  }
}

/** The digest of an id in the answers of one guarded method. */
export function denialDigest(id: IdKey, scope: string): Buffer {
  const length = Buffer.byteLength(scope);
  return createHash('sha256')
    .update(`${length} ${scope}`)
    .update(bytesOf(id))
    .digest()
    .subarray(0, DIGEST_BYTES);
}

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
   * Makes the table of the negative cache of the live generation in the place of the one before, if there was
   * one; nothing when the metadata name others by now.
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

  /** Notes a denial. @param options `askedAt` is the time that `negative-cache-ask` has answered. */
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

function bytesOf(id: IdKey): Buffer {
  return Buffer.from(idKeyText(id), 'latin1');
}
