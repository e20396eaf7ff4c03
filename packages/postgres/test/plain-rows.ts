import { PassThrough } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import type { ColumnKind } from '../src/column-kind.js';
import { CopyOut } from '../src/copy-out.js';
import type { PostgresConnection } from '../src/postgres-pool.js';
import { Random, SEED } from '../../../test/support/random.js';

const HEADER = Buffer.from('PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0', 'latin1');

interface Value {
  /** As the server sends it; undefined for null. */
  readonly sent: Uint8Array | undefined;
  /** The id. */
  readonly id: Uint8Array;
}

function message(code: string, body: Uint8Array): Buffer {
  const head = Buffer.alloc(5, code, 'latin1');
  head.writeUInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}

function row({ sent }: Value): Buffer {
  const head = Buffer.from([0, 1, 0xff, 0xff, 0xff, 0xff]);
  if (sent) head.writeUInt32BE(sent.length, 2);
  return Buffer.concat([head, sent ?? new Uint8Array(0)]);
}

function integer(value: bigint): Value {
  const sent = Buffer.alloc(8);
  sent.writeBigInt64BE(value);
  return { sent, id: Buffer.from(value.toString()) };
}

const POWERS = Array.from({ length: 19 }, (_, i) => 10n ** BigInt(i));
const EDGES = [
  0n,
  2n ** 63n - 1n,
  -(2n ** 63n),
  2n ** 53n,
  -(2n ** 53n),
  ...POWERS.flatMap((power) => [power - 1n, power, power + 1n, 1n - power, -power, 7n * power]),
].filter((value) => BigInt.asIntN(64, value) === value);

const MAKERS: Record<ColumnKind, (random: Random) => Value> = {
  integer: (random) => {
    if (random.below(10) === 0) return integer(random.choose(EDGES));
    const value = Buffer.from(random.bytes(8)).readBigInt64BE();
    return integer(value >> BigInt(random.below(64)));
  },
  uuid: (random) => {
    const sent = random.bytes(16);
    const hex = Buffer.from(sent).toString('hex');
    const text = hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
    return { sent, id: Buffer.from(text) };
  },
  text: (random) => {
    const characters = random.below(20) === 0 ? ['ä', '😀', 'x'] : ['a', 'Z', '0', '\n', '\x7f', '\0'];
    const length = random.below(random.below(400) === 0 ? 150_000 : 40);
    // A text of a database without an encoding is what a driver makes of it.
    const sent = Buffer.from(Array.from({ length }, () => random.choose(characters)).join(''));
    if (random.below(20) === 0 && length > 0) sent[random.below(length)] = 0xff;
    return { sent, id: Buffer.from(sent.toString()) };
  },
  bytes: (random) => {
    const sent = random.bytes(random.below(random.below(400) === 0 ? 150_000 : 40));
    return { sent, id: sent };
  },
};

async function read(bytes: Buffer, kind: ColumnKind, nextSize: () => number): Promise<Buffer[]> {
  const stream = new PassThrough();
  const query = new CopyOut('copy', kind);
  stream.on('data', (data: Buffer) => {
    if (data[0] === 'Z'.charCodeAt(0)) query.handleReadyForQuery();
  });
  query.submit({ stream, query() {} } as unknown as PostgresConnection);
  for (let at = 0; at < bytes.length;) {
    const size = nextSize();
    stream.write(bytes.subarray(at, at + size));
    at += size;
  }
  const ids: Buffer[] = [];
  for (let batch = await query.next(); batch; batch = await query.next()) {
    let start = 0;
    for (const end of batch.ends.subarray(0, batch.count)) {
      ids.push(Buffer.from(batch.bytes.slice(start, end)));
      start = end;
    }
  }
  return ids;
}

/** What is read of the rows of a server has to be, whether many are read at once or one after the other. */
export function readsRows(): void {
  describe(`rows of COPY (seed ${SEED})`, () => {
    const kinds: ColumnKind[] = ['integer', 'uuid', 'text', 'bytes'];
    it.each(kinds.flatMap((kind) => [10, 1000, 65_536, 300_000].map((size) => [kind, size] as const)))(
      'of %s are read as the server sent them, in pieces of up to %d bytes',
      async (kind, most) => {
        const random = new Random(SEED + most);
        const make = MAKERS[kind];
        const rows = Array.from({ length: Math.min(4_000, 40 * most) }, () =>
          random.below(50) === 0 ? { sent: undefined, id: new Uint8Array(0) } : make(random),
        );
        const whole = Buffer.concat([
          ...[HEADER, ...rows.map(row), Buffer.from([0xff, 0xff])].map((body) => message('d', body)),
          message('Z', Buffer.from('I')),
        ]);
        const ids = await read(whole, kind, () => 1 + random.below(most));
        const expected = rows.filter(({ sent }) => sent).map(({ id }) => Buffer.from(id));
        expect(ids.length).toBe(expected.length);
        expect(expected.findIndex((id, i) => !id.equals(ids[i]!))).toBe(-1);
      },
    );
  });
}
