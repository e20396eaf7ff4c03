import { instantiateIfPossible, type WasmExports } from '../common/index.js';
import type { Generation } from './generation.js';
import { generationOfParts, MOST_PARTS } from './parts.js';
import { BLOCK_BYTES } from './sizing.js';
import { wasmModules } from './wasm.generated.js';

/** Blocks of a region: 256 KiB, which the cache of a core holds while their bits are set. */
export const REGION_BLOCKS = 1024;
/** Ids of one region that may wait at most: their bits take less than a millisecond. */
export const MOST_OF_REGION = 1 << 13;
/** Ids that are found at once at most. */
const MOST_IDS = 1024;
const MOST_BYTES = 1 << 17;
const WORD_BYTES = 4;

// What is where in the memory, in bytes.
const ZEROS_AT = 0;
const NUMBERS_AT = ZEROS_AT + MOST_IDS * WORD_BYTES;
const ENDS_AT = NUMBERS_AT + MOST_IDS * WORD_BYTES;
const LOCATED_AT = ENDS_AT + MOST_IDS * WORD_BYTES;
const GENERATIONS_AT = LOCATED_AT + 2 * MOST_IDS * WORD_BYTES;
const IDS_AT = GENERATIONS_AT + MOST_PARTS * 4 * WORD_BYTES;
/** Behind the ids there is room, since the last bytes are read as a whole word too. */
const REGION_AT = IDS_AT + MOST_BYTES + 64;
const WAITING_AT = REGION_AT + REGION_BLOCKS * BLOCK_BYTES;

interface RegionsExports extends WasmExports {
  locate(
    count: number,
    start: number,
    shift: number,
    ends: number,
    numbers: number,
    generations: number,
    located: number,
  ): number;
  set(at: number, end: number, region: number, hashCount: number): number;
}

/** Ids one after the other, as `PackedIds` has them. */
export interface IdRun {
  /** Text in UTF-8, or the bytes that the ids are. */
  readonly bytes: Uint8Array;
  /** Where each id ends, and the next one begins. */
  readonly ends: Uint32Array;
}

/** The WebAssembly of `wat/regions.wat`, which keeps nothing from one call to the next. */
export class RegionsModule {
  /** Block and seed of each id that was found last. */
  readonly located: Int32Array;
  /** The part of each id that `locateInParts` has found last. */
  readonly parts: Int32Array;

  private readonly words: Int32Array;
  private readonly memory: Uint8Array;

  constructor(private readonly wasm: RegionsExports) {
    const { buffer } = wasm.memory;
    this.words = new Int32Array(buffer);
    this.memory = new Uint8Array(buffer);
    this.located = new Int32Array(buffer, LOCATED_AT, 2 * MOST_IDS);
    this.parts = new Int32Array(buffer, NUMBERS_AT, MOST_IDS);
  }

  /**
   * Finds block and seed of the ids from `from` to below `to`; returns how many it has found, which may be
   * fewer. It is 0 when the first id is empty or too long.
   */
  locate(ids: IdRun, from: number, to: number, generation: LocatingGeneration): number {
    const count = this.load(ids, from, to);
    this.words.set(rowOf(generation), GENERATIONS_AT / WORD_BYTES);
    return this.find(ids, from, count, ZEROS_AT);
  }

  /**
   * The same where the part of an id decides which generation it is found by: a table of them, as `tableOf`
   * makes it.
   */
  locateInParts(ids: IdRun, from: number, to: number, table: Int32Array): number {
    const { words, parts, located } = this;
    const loaded = this.load(ids, from, to);
    words.set(rowOf(generationOfParts(table.length / 4)), GENERATIONS_AT / WORD_BYTES);
    const count = this.find(ids, from, loaded, ZEROS_AT);
    for (let i = 0; i < count; i++) parts[i] = located[2 * i]!;
    words.set(table, GENERATIONS_AT / WORD_BYTES);
    return this.find(ids, from, count, NUMBERS_AT);
  }

  /** Copies ids to the memory; returns how many, which may be fewer. */
  private load({ bytes, ends }: IdRun, from: number, to: number): number {
    const start = startOf(ends, from);
    let count = Math.min(to - from, MOST_IDS);
    while (count > 0 && ends[from + count - 1]! - start > MOST_BYTES) count >>>= 1;
    if (count === 0) return 0;
    this.memory.set(bytes.subarray(start, ends[from + count - 1]), IDS_AT);
    this.words.set(ends.subarray(from, from + count), ENDS_AT / WORD_BYTES);
    return count;
  }

  private find({ ends }: IdRun, from: number, count: number, numbers: number): number {
    const shift = IDS_AT - startOf(ends, from);
    return this.wasm.locate(count, IDS_AT, shift, ENDS_AT, numbers, GENERATIONS_AT, LOCATED_AT);
  }

  /** Sets the bits of blocks and seeds in the bytes of their region; how many of these ids were new. */
  setBits(region: Uint8Array, waiting: Int32Array, hashCount: number): number {
    const { memory, words } = this;
    memory.set(region, REGION_AT);
    words.set(waiting, WAITING_AT / WORD_BYTES);
    const end = WAITING_AT + waiting.length * WORD_BYTES;
    const newIds = this.wasm.set(WAITING_AT, end, REGION_AT, hashCount);
    region.set(memory.subarray(REGION_AT, REGION_AT + region.length));
    return newIds;
  }
}

type LocatingGeneration = Pick<Generation, 'key' | 'blocks' | 'maxIdBytes'>;

/**
 * The generations of all parts, for the module. For a part that has none here, what the module finds means
 * nothing.
 */
export function tableOf(generations: readonly (Generation | undefined)[]): Int32Array {
  const maxIdBytes = Math.min(...generations.flatMap((generation) => generation?.maxIdBytes ?? []));
  const none = { key: [0, 0], blocks: 1, maxIdBytes } as const;
  return Int32Array.from(generations.flatMap((generation) => rowOf(generation ?? none)));
}

/** As the module has it. */
function rowOf({ key, blocks, maxIdBytes }: LocatingGeneration): number[] {
  return [key[0], key[1], blocks, maxIdBytes];
}

/** Where an id begins. */
function startOf(ends: Uint32Array, id: number): number {
  return id === 0 ? 0 : ends[id - 1]!;
}

let instance: { readonly module: RegionsModule | undefined } | undefined;

/** Undefined where the engine runs no WebAssembly. */
export function regionsModule(): RegionsModule | undefined {
  instance ??= made();
  return instance.module;
}

function made() {
  const wasm = instantiateIfPossible<RegionsExports>(wasmModules.regions);
  return { module: wasm && new RegionsModule(wasm) };
}
