/** A reply of `BF.SCANDUMP` or `CF.SCANDUMP`, or the arguments of `BF.LOADCHUNK` or `CF.LOADCHUNK`. */
export interface RedisBloomChunk {
  /** The iterator that the dump replied, not the one it was asked with. */
  readonly iterator: number;
  readonly data: Uint8Array;
}

const CHUNK_BYTES = 16_777_216;

/** The chunks that the server would reply, without the empty one at the end: no chunk crosses from one part to the next. */
export function dumpChunks(header: Uint8Array, parts: Iterable<Uint8Array>): RedisBloomChunk[] {
  const chunks = [{ iterator: 1, data: header }];
  let iterator = 1;
  for (const bytes of parts) {
    for (let at = 0; at < bytes.length; at += CHUNK_BYTES) {
      const data = bytes.subarray(at, at + CHUNK_BYTES);
      iterator += data.length;
      chunks.push({ iterator, data });
    }
  }
  return chunks;
}
