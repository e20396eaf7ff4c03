import { BloomFormatError } from 'nestjs-bloom/filter';
import { MAX_HASH_COUNT } from './bitmap-filter.js';
import { readUint64, writeUint64 } from './dump.js';
import { wrongRedisBloomHeader } from './formats.messages.js';
import { type ChainSettings, hashCountOf, type LinkState } from './redis-bloom-chain.js';

/** The first chunk of a dump. */
export interface RedisBloomHeader extends ChainSettings {
  readonly links: readonly LinkState[];
}

const HEAD_BYTES = 20;
const LINK_BYTES = 53;

// Options of filters that commands made: sizes are not rounded to powers of two (1), the hash has 64 bits
// (4).
const SCALING = 5;
const NON_SCALING = 13;

export function writeHeader({ links, expansion, nonScaling }: RedisBloomHeader): Uint8Array {
  const header = new Uint8Array(HEAD_BYTES + LINK_BYTES * links.length);
  const view = new DataView(header.buffer);
  writeUint64(
    view,
    0,
    links.reduce((sum, { items }) => sum + items, 0),
  );
  view.setUint32(8, links.length, true);
  view.setUint32(12, nonScaling ? NON_SCALING : SCALING, true);
  view.setUint32(16, expansion, true);
  links.forEach((link, index) => {
    const at = HEAD_BYTES + index * LINK_BYTES;
    writeUint64(view, at, link.bits / 8);
    writeUint64(view, at + 8, link.bits);
    writeUint64(view, at + 16, link.items);
    view.setFloat64(at + 24, link.errorRate, true);
    view.setFloat64(at + 32, link.bitsPerId, true);
    view.setUint32(at + 40, link.hashCount, true);
    writeUint64(view, at + 44, link.capacity);
  });
  return header;
}

/** @throws {BloomFormatError} for what `BF.LOADCHUNK` refuses, and for filters that no command makes. */
export function readHeader(header: Uint8Array): RedisBloomHeader {
  const view = new DataView(header.buffer, header.byteOffset, header.length);
  const count = header.length < HEAD_BYTES ? 0 : view.getUint32(8, true);
  if (count < 1 || header.length !== HEAD_BYTES + LINK_BYTES * count) {
    throw refused(
      `${HEAD_BYTES} bytes and ${LINK_BYTES} for each of at least one link`,
      `${header.length} bytes for ${count} links`,
    );
  }
  const options = view.getUint32(12, true);
  if (options !== SCALING && options !== NON_SCALING)
    throw refused(`options ${SCALING} or ${NON_SCALING}`, `${options}`);
  const links = Array.from({ length: count }, (_, index) => readLink(view, HEAD_BYTES + index * LINK_BYTES));
  const items = readCount(view, 0);
  const sum = links.reduce((sum, link) => sum + link.items, 0);
  if (items !== sum) throw refused(`as many ids as its links have, ${sum}`, `${items}`);
  const expansion = view.getUint32(16, true);
  return { links, expansion, nonScaling: options === NON_SCALING || expansion === 0 };
}

function readLink(view: DataView, at: number): LinkState {
  const bytes = readCount(view, at);
  const bits = readCount(view, at + 8);
  if (bits < 1 || bits !== bytes * 8)
    throw refused('a link whose bits are 8 times its bytes', `${bits} bits, ${bytes} bytes`);
  const errorRate = view.getFloat64(at + 24, true);
  if (!(errorRate > 0 && errorRate < 1))
    throw refused('a link with an error rate above 0 and below 1', `${errorRate}`);
  const bitsPerId = view.getFloat64(at + 32, true);
  const hashCount = view.getUint32(at + 40, true);
  if (hashCount < 1 || hashCount > MAX_HASH_COUNT || hashCount !== hashCountOf(bitsPerId)) {
    throw refused(
      `a link with 1 to ${MAX_HASH_COUNT} hashes that suit its bits per id`,
      `${hashCount} hashes, ${bitsPerId} bits`,
    );
  }
  const capacity = readCount(view, at + 44);
  if (capacity < 1) throw refused('a link for at least one id', `${capacity}`);
  const exponent = view.getUint8(at + 52);
  // A power of two as the number of bits; else its exponent is 0.
  if (exponent !== 0 && 2 ** exponent !== bits) throw refused(`a link of 2^${exponent} bits`, `${bits}`);
  return { bits, items: readCount(view, at + 16), errorRate, bitsPerId, hashCount, capacity };
}

function readCount(view: DataView, at: number): number {
  const value = readUint64(view, at);
  if (!Number.isSafeInteger(value)) throw refused('numbers below 2^53', `${value}`);
  return value;
}

function refused(expected: string, got: string): BloomFormatError {
  return new BloomFormatError(wrongRedisBloomHeader(expected, got));
}
