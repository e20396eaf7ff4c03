import type { BloomId } from '../filter/index.js';

/**
 * Keys of ids, one after the other in one piece of memory: no object stands for an id. A source may write the
 * next batch into it when that is asked for.
 */
export interface PackedIds {
  /** Text in UTF-8, or the bytes that the ids are. */
  readonly bytes: Uint8Array;
  /** Where each id ends, and the next one begins. */
  readonly ends: Uint32Array;
  /** How many there are. */
  readonly count: number;
  /** Whether the ids are texts. */
  readonly areText: boolean;
}

/** By name, since an application may have two copies of the package, an ES module and a CommonJS one. */
const PACKED = Symbol.for('nestjs-bloom:packed-ids');

/**
 * What `ids()` of a source returns that can pack them. It is a property of what is returned and not of the
 * source: whoever takes the source and replaces its `ids` or its `spelling` is not passed by.
 */
export interface PackableIds extends AsyncIterable<readonly BloomId[]> {
  /** What can read them packed. */
  readonly [PACKED]: {
    /** The function that formed the keys, or changes none of them. */
    readonly normalize: ((id: BloomId) => BloomId) | undefined;
    /** Reads them, in batches. */
    readonly read: () => AsyncIterable<PackedIds>;
  };
}

/** Ids that are read as arrays, or packed by whoever looks up the keys that `normalize` forms. */
export function packableIds(
  read: () => AsyncIterable<PackedIds>,
  normalize: ((id: BloomId) => BloomId) | undefined,
): PackableIds {
  return {
    async *[Symbol.asyncIterator]() {
      for await (const packed of read()) yield unpackIds(packed);
    },
    [PACKED]: { normalize, read },
  };
}

export type Pack = <Ids extends object>(ids: Ids) => Ids | AsyncIterable<PackedIds>;

/** The same in a reading that asks for its ids when it begins. */
const PACKED_LATER = Symbol.for('nestjs-bloom:packed-later');

/** Ids that `open` asks for when they are read; it gives them to `pack`, which packs those that can be. */
export function openedLater(
  open: (pack: Pack) => AsyncIterator<BloomId | readonly BloomId[] | PackedIds>,
): AsyncIterable<BloomId | readonly BloomId[]> {
  const reading = (pack: Pack) => ({ [Symbol.asyncIterator]: () => open(pack) });
  return { ...reading((ids) => ids), [PACKED_LATER]: reading } as AsyncIterable<BloomId | readonly BloomId[]>;
}

/** The same ids packed, where they can be, and where the keys are those of lookups; otherwise as they are. */
export function packedWhere<Ids extends object>(
  ids: Ids,
  spellsAs: (normalize: ((id: BloomId) => BloomId) | undefined) => boolean,
): Ids | AsyncIterable<PackedIds> {
  const later = (ids as { readonly [PACKED_LATER]?: (pack: Pack) => Ids })[PACKED_LATER];
  if (later) return later((inner) => packedWhere(inner, spellsAs));
  const packable = (ids as Partial<PackableIds>)[PACKED];
  return packable && spellsAs(packable.normalize) ? packable.read() : ids;
}

/** Several readings as one, where all of them are packed and formed alike; otherwise undefined. */
export function packedTogether(
  all: readonly object[],
  merge: (readings: readonly AsyncIterable<PackedIds>[]) => AsyncIterable<PackedIds>,
): AsyncIterable<readonly BloomId[]> | undefined {
  const readings = all.map((ids) => (ids as Partial<PackableIds>)[PACKED]);
  const [first] = readings;
  if (!first || !readings.every((one) => one?.normalize === first.normalize && one !== undefined))
    return undefined;
  return packableIds(() => merge(readings.map((one) => one!.read())), first.normalize);
}

export function arePacked(value: unknown): value is PackedIds {
  return typeof value === 'object' && value !== null && 'ends' in value && value.ends instanceof Uint32Array;
}

/** The ids as values of their own. */
function unpackIds(packed: PackedIds): BloomId[] {
  return Array.from({ length: packed.count }, (_, i) => unpackId(packed, i));
}

export function unpackId({ bytes, ends, areText }: PackedIds, at: number): BloomId {
  const id = bytes.subarray(at === 0 ? 0 : ends[at - 1], ends[at]);
  if (!areText) return new Uint8Array(id);
  return Buffer.from(id.buffer, id.byteOffset, id.byteLength).toString('utf8');
}
