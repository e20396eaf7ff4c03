import { BLOCK_BYTES, type IdKey } from 'nestjs-bloom/filter';
import type { GenerationRole } from '../generation/layout-driver.js';
import { type KnownVerdict, type Outdated, ScriptKeys, SEGMENT_BLOCKS } from 'nestjs-bloom/internal';
import type { ResolvedGrowing } from './resolved-growing.js';
import type { GrowingKeys } from './growing-keys.js';
import type { GrowingScripts } from './growing-scripts.js';

/** Blocks of one script call: it holds the server for about a third of a millisecond. */
const BLOCKS_PER_CALL = 256;

/** Asks all layers of a generation for ids, in one round trip. */
export class GrowingReader {
  constructor(
    private readonly keys: GrowingKeys,
    private readonly scripts: GrowingScripts,
  ) {}

  async check(
    resolved: ResolvedGrowing,
    ids: readonly IdKey[],
    role: GenerationRole,
  ): Promise<KnownVerdict[] | Outdated> {
    const idsPerCall = Math.max(1, Math.floor(BLOCKS_PER_CALL / resolved.layers.length));
    const calls = [];
    for (let at = 0; at < ids.length; at += idsPerCall) {
      calls.push(this.checkSome(resolved, ids.slice(at, at + idsPerCall), role));
    }
    const replies = await Promise.all(calls);
    return replies.find((reply) => typeof reply === 'string') ?? (replies as KnownVerdict[][]).flat();
  }

  private async checkSome(
    resolved: ResolvedGrowing,
    ids: readonly IdKey[],
    role: GenerationRole,
  ): Promise<KnownVerdict[] | Outdated> {
    const { layers } = resolved;
    const table = new ScriptKeys(this.keys.meta);
    const records = Buffer.allocUnsafe(ids.length * layers.length * 4);
    const seeds = new Int32Array(ids.length * layers.length);
    const fits: boolean[] = [];
    let n = 0;
    for (const id of ids) {
      let isFit = true;
      for (const { layout, key } of layers) {
        isFit = layout.locate(id);
        records.writeUInt16BE(table.indexOf(key(Math.floor(layout.block / SEGMENT_BLOCKS))), n * 4);
        records.writeUInt16BE(layout.block % SEGMENT_BLOCKS, n * 4 + 2);
        seeds[n++] = layout.seed;
      }
      fits.push(isFit);
    }
    const blocks = await this.scripts.check(resolved, role, { keys: table.keys, records });
    if (blocks === 'STALE') return 'STALE';
    const isDamaged = Array.from(seeds).some((_, i) => !isBlockOf(blocks[i], layers[i % layers.length]!));
    if (isDamaged) return 'LOST';
    const holds = (i: number) =>
      layers.some(({ layout }, layer) => {
        const at = i * layers.length + layer;
        return layout.contains(blocks[at] as Buffer, 0, seeds[at]!);
      });
    return ids.map((_, i) => (fits[i] && holds(i) ? 'maybe' : 'absent'));
  }
}

function isBlockOf(block: unknown, { generation }: ResolvedGrowing['layers'][number]): boolean {
  return Buffer.isBuffer(block) && block.length === BLOCK_BYTES && block.readUInt32LE() === generation.tag;
}
