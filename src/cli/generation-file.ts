import { createHash, type Hash } from 'node:crypto';
import { BloomFormatError } from '../common/index.js';
import {
  BLOCK_BYTES,
  BLOCK_DATA_BITS,
  BLOCKED_LAYOUT,
  BlockedLayout,
  type Generation,
  type IdKey,
  TAG_BYTES,
} from '../filter/index.js';
import {
  NOT_A_FILTER_FILE,
  otherFileVersion,
  FILE_DAMAGED,
  FILE_HEADER_NONSENSE,
  FILE_BLOCKS_MISSING,
} from './cli.messages.js';

/**
 * One generation of layout `blocked` as a file:
 *
 *     magic "nestjs-bloom" · version (4) · length of the header (4) · header, JSON in UTF-8 · blocks · SHA-256 of all before it (32)
 *
 * Numbers are little-endian. A version is never changed; a reader refuses one that it does not know.
 */
const MAGIC = Buffer.from('nestjs-bloom');
const VERSION = 1;
const SUM_BYTES = 32;
const MAX_HEADER_BYTES = 65_536;

/** What stands before the blocks. */
export interface GenerationHeader {
  readonly filter: string;
  readonly generation: Generation;
  /** Ids in it, as far as they were counted when the export began. */
  readonly count: number;
  readonly capacity: number;
  readonly errorRate: number;
  /** ISO 8601. An id that was added later may not be in the file. */
  readonly exportedAt: string;
}

/** Makes the parts of a file, one after the other. */
export class GenerationFileWriter {
  private readonly hash: Hash = createHash('sha256');

  head(header: GenerationHeader): Buffer {
    const json = Buffer.from(JSON.stringify(header));
    const numbers = Buffer.alloc(8);
    numbers.writeUInt32LE(VERSION, 0);
    numbers.writeUInt32LE(json.length, 4);
    return this.part(Buffer.concat([MAGIC, numbers, json]));
  }

  part(bytes: Buffer): Buffer {
    this.hash.update(bytes);
    return bytes;
  }

  end(): Buffer {
    return this.hash.digest();
  }
}

/** A generation that was read from a file whole. */
export interface GenerationFile {
  readonly header: GenerationHeader;
  /** All blocks, one after the other. */
  readonly blocks: Uint8Array;
  /** False: the id was not in the generation when it was exported. */
  holds(id: IdKey): boolean;
}

/** @throws {BloomFormatError} for a file that is cut short, damaged, of another version, or something else. */
export function readGenerationFile(bytes: Buffer): GenerationFile {
  const start = MAGIC.length + 8;
  if (bytes.length < start + SUM_BYTES || !bytes.subarray(0, MAGIC.length).equals(MAGIC))
    throw new BloomFormatError(NOT_A_FILTER_FILE);
  const version = bytes.readUInt32LE(MAGIC.length);
  if (version !== VERSION) throw new BloomFormatError(otherFileVersion(VERSION, version));
  const body = bytes.subarray(0, -SUM_BYTES);
  if (!createHash('sha256').update(body).digest().equals(bytes.subarray(-SUM_BYTES)))
    throw new BloomFormatError(FILE_DAMAGED);
  const length = bytes.readUInt32LE(MAGIC.length + 4);
  if (length > MAX_HEADER_BYTES) throw new BloomFormatError(FILE_HEADER_NONSENSE);
  const header = headerOf(bytes.toString('utf8', start, start + length));
  if (!header) throw new BloomFormatError(FILE_HEADER_NONSENSE);
  const blocks = body.subarray(start + length);
  const { generation } = header;
  if (blocks.length !== generation.blocks * BLOCK_BYTES) throw new BloomFormatError(FILE_BLOCKS_MISSING);
  const layout = new BlockedLayout(generation);
  return {
    header,
    blocks,
    holds: (id) => layout.locate(id) && layout.contains(blocks, layout.block * BLOCK_BYTES, layout.seed),
  };
}

/** The checksum is anybody's to make, so a header may be any text. */
function headerOf(text: string): GenerationHeader | undefined {
  let header: Partial<GenerationHeader>;
  try {
    header = Object(JSON.parse(text)) as Partial<GenerationHeader>;
  } catch {
    return undefined;
  }
  const { filter, generation, count, capacity, errorRate, exportedAt } = header;
  const { layout, tag, key, blocks, hashCount, maxIdBytes } = Object(generation) as Partial<Generation>;
  const isRight =
    layout === BLOCKED_LAYOUT &&
    typeof filter === 'string' &&
    !Number.isNaN(Date.parse(String(exportedAt))) &&
    Array.isArray(key) &&
    key.length === 2 &&
    [tag, ...key, count, capacity].every((value) => Number.isSafeInteger(value) && value! >= 0) &&
    [blocks, hashCount, maxIdBytes].every((value) => Number.isSafeInteger(value) && value! >= 1) &&
    hashCount! <= BLOCK_DATA_BITS &&
    typeof errorRate === 'number';
  return isRight ? (header as GenerationHeader) : undefined;
}

/** Whether each block of a piece is of this generation. */
export function areOf({ tag }: Generation, blocks: Buffer): boolean {
  if (blocks.length % BLOCK_BYTES !== 0) return false;
  for (let at = 0; at < blocks.length; at += BLOCK_BYTES) {
    if (blocks.length - at < TAG_BYTES || blocks.readUInt32LE(at) !== tag) return false;
  }
  return true;
}
