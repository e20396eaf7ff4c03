import type { Redis } from 'ioredis';
import { systemClock } from '../src/common/index.js';
import { BLOCK_BYTES, BlockedLayout } from '../src/filter/index.js';
import {
  RANGE_BYTES,
  writeRange,
  SEGMENT_BLOCKS,
  segmentCount,
  tagText,
} from '../src/store/redis/staging/segments.js';
import type { CopyableFilter } from '../src/store/index.js';
import { RedisStore } from '../src/store/redis/index.js';
import { openOptions } from '../test/support/open-options.js';
import { PATIENT } from '../test/support/patience.js';
import { assert } from './harness.js';

/**
 * What `add.lua` does for a live generation, with the same proofs, but the bits of all ids are set by one
 * `BITOP`: of a key with their blocks, and one with their masks. Both keys live within the script, are not
 * sent to replicas, and would expire at once.
 */
const ADD = `
if redis.call('TYPE', KEYS[1]).ok ~= 'hash' then return 'NOMETA' end
local known = redis.call('HMGET', KEYS[1], 'tag', 'pending.tag', 'denials')
if known[1] ~= ARGV[1] or known[2] or known[3] then return 'STALE' end
local sub, unpack, head = string.sub, struct.unpack, tonumber(ARGV[1], 16)
local records, blocks, keys, froms, n, at, key, from, to = ARGV[2], {}, {}, {}, 0, 1
while at <= #records do
  key, from, to, at = unpack('>HBc0Bc0', records, at)
  local block = redis.pcall('GETRANGE', KEYS[key], from, to)
  if type(block) ~= 'string' or #block ~= 256 or unpack('<I4', block) ~= head then return 'LOST' end
  n = n + 1
  blocks[n], keys[n], froms[n] = block, KEYS[key], from
end
local scratch, masks = KEYS[#KEYS - 1], KEYS[#KEYS]
redis.set_repl(redis.REPL_NONE)
redis.call('SET', scratch, table.concat(blocks), 'PX', 1)
redis.call('SET', masks, ARGV[3], 'PX', 1)
redis.call('BITOP', 'OR', scratch, scratch, masks)
local all = redis.call('GET', scratch)
redis.call('DEL', scratch, masks)
redis.set_repl(redis.REPL_ALL)
local flags, added = {}, 0
for i = 1, n do
  local after = sub(all, 256 * i - 255, 256 * i)
  if after ~= blocks[i] then
    redis.call('SETRANGE', keys[i], froms[i], after)
    flags[i], added = '1', added + 1
  else
    flags[i] = '0'
  end
end
if added > 0 then redis.call('HINCRBY', KEYS[1], 'count', added) end
return { table.concat(flags), added }`;

const IDS_PER_CALL = 250;

type Scripting = Record<'evalshaBuffer', (...words: (string | number | Buffer)[]) => Promise<unknown>>;

/** Adds ids to the filter that `openFilter` makes, in bulk, by `BITOP`. */
export class BitopWay {
  private constructor(
    private readonly client: Redis,
    private readonly sha: string,
    private readonly layout: BlockedLayout,
    private readonly keys: readonly string[],
    private readonly tag: string,
  ) {}

  static async on(client: Redis, url: string): Promise<BitopWay> {
    const emit = () => {};
    const store = await RedisStore.connect({
      redis: url,
      keyPrefix: 'bench',
      ...PATIENT,
      trustAfterFailover: false,
      emit,
    });
    const filter = store.open(openOptions({ name: 'products', emit, clock: systemClock })) as CopyableFilter;
    const { generation } = await filter.describe();
    await store.close();
    assert(generation !== undefined, 'a live generation');
    const sha = (await client.script('LOAD', ADD)) as string;
    const ends = [
      'meta',
      ...Array.from({ length: segmentCount(generation) }, (_, i) => `${i}`),
      'scratch',
      'masks',
    ];
    const keys = ends.map((end) => `bench:{products}:${end}`);
    return new BitopWay(client, sha, new BlockedLayout(generation), keys, tagText(generation));
  }

  /** How many of the ids were not there before. */
  async addMany(ids: readonly string[]): Promise<number> {
    const calls: Promise<number>[] = [];
    for (let at = 0; at < ids.length; at += IDS_PER_CALL)
      calls.push(this.addSome(ids.slice(at, at + IDS_PER_CALL)));
    return (await Promise.all(calls)).reduce((sum, added) => sum + added, 0);
  }

  private async addSome(ids: readonly string[]): Promise<number> {
    const { layout } = this;
    const records = Buffer.allocUnsafe(ids.length * (2 + RANGE_BYTES));
    const masks = Buffer.alloc(ids.length * BLOCK_BYTES);
    const blocks = new Set<number>();
    const again: string[] = [];
    let [end, start] = [0, 0];
    for (const id of ids) {
      layout.locate(id);
      // The script reads every block once.
      if (blocks.size === blocks.add(layout.block).size) {
        again.push(id);
        continue;
      }
      end = records.writeUInt16BE(2 + Math.floor(layout.block / SEGMENT_BLOCKS), end);
      end = writeRange(records, end, layout.block % SEGMENT_BLOCKS);
      for (const position of layout.positions(layout.seed))
        masks[start + (position >>> 3)]! |= 1 << (position & 7);
      start += BLOCK_BYTES;
    }
    const added = await this.run(records.subarray(0, end), masks.subarray(0, start));
    return again.length === 0 ? added : added + (await this.addSome(again));
  }

  private async run(records: Buffer, masks: Buffer): Promise<number> {
    const { client, sha, keys, tag } = this;
    const reply = await (client as unknown as Scripting).evalshaBuffer(
      sha,
      keys.length,
      ...keys,
      tag,
      records,
      masks,
    );
    assert(Array.isArray(reply), `the script to set bits, not ${String(reply)}`);
    return Number(reply[1]);
  }
}
