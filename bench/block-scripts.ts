import { Redis } from 'ioredis';
import { BLOCK_BYTES } from '../src/filter/index.js';
import { RANGE_BYTES, writeRange, SEGMENT_BLOCKS } from '../src/store/redis/staging/segments.js';
import { luaSources } from '../test/support/lua-sources.js';

/** Reads every block and writes it back: what an add in blocks costs without setting a bit. */
const READ_AND_WRITE = `local records, at, key, from, to = ARGV[1], 1
while at <= #records do
  key, from, to, at = struct.unpack('>HBc0Bc0', records, at)
  redis.call('SETRANGE', KEYS[key], from, redis.call('GETRANGE', KEYS[key], from, to))
end
return 'OK'`;

type Scripting = Record<'evalshaBuffer', (...words: (string | number | Buffer)[]) => Promise<unknown>>;

/**
 * The scripts of a filter with nothing of ours around them: the limit of any client that asks Redis for
 * blocks.
 */
export class BlockScripts {
  private constructor(
    private readonly client: Redis,
    private readonly keys: readonly string[],
    private readonly readSha: string,
    private readonly readAndWriteSha: string,
  ) {}

  /** On the filter that `openFilter` makes. */
  static async on(client: Redis): Promise<BlockScripts> {
    const keys: string[] = [];
    while (await client.exists(segmentKey(keys.length))) keys.push(segmentKey(keys.length));
    const [read, readAndWrite] = await Promise.all(
      [luaSources.check.source, READ_AND_WRITE].map((source) => client.script('LOAD', source)),
    );
    return new BlockScripts(client, keys, String(read), String(readAndWrite));
  }

  /** Ids of one block each, as many as said, for one call. */
  async records(count: number): Promise<Buffer> {
    const last = (await this.client.strlen(this.keys.at(-1)!)) / BLOCK_BYTES;
    const blocks = (this.keys.length - 1) * SEGMENT_BLOCKS + last;
    const records = Buffer.alloc(count * (2 + RANGE_BYTES));
    let end = 0;
    for (let i = 0; i < count; i++) {
      const block = Math.floor(Math.random() * blocks);
      end = records.writeUInt16BE(1 + Math.floor(block / SEGMENT_BLOCKS), end);
      end = writeRange(records, end, block % SEGMENT_BLOCKS);
    }
    return records.subarray(0, end);
  }

  /** The blocks. */
  async read(records: Buffer): Promise<readonly unknown[]> {
    return (await this.run(this.readSha, records)) as unknown[];
  }

  async readAndWrite(records: Buffer): Promise<unknown> {
    return this.run(this.readAndWriteSha, records);
  }

  private run(sha: string, records: Buffer): Promise<unknown> {
    const client = this.client as unknown as Scripting;
    return client.evalshaBuffer(sha, this.keys.length, ...this.keys, records);
  }
}

function segmentKey(index: number): string {
  return `bench:{products}:${index}`;
}
