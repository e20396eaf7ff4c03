import { PassThrough } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { CopyOut } from '../src/copy-out.js';
import type { PostgresConnection } from '../src/postgres-pool.js';

const HEADER = Buffer.from('PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0', 'latin1');
const TRAILER = Buffer.from([0xff, 0xff]);

function message(code: string, body: Uint8Array): Buffer {
  const head = Buffer.alloc(5);
  head.write(code, 'latin1');
  head.writeUInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}

function row(text: string): Buffer {
  const bytes = Buffer.from(text);
  const head = Buffer.from([0, 1, 0, 0, 0, 0]);
  head.writeUInt32BE(bytes.length, 2);
  return Buffer.concat([head, bytes]);
}

const copyData = (...parts: Uint8Array[]) => parts.map((part) => message('d', part));
const END = [
  message('c', Buffer.alloc(0)),
  message('C', Buffer.from('COPY 3\0')),
  message('Z', Buffer.from('I')),
];
const ROWS = ['one', 'zwölf', 'x'];

/** What a query reads of these bytes, which come in pieces of a size, and what is passed on to `pg`. */
async function read(bytes: Uint8Array, size: number, text = true) {
  const stream = new PassThrough();
  const passed: number[] = [];
  const query = new CopyOut('copy', text ? 'text' : 'integer');
  stream.on('data', (data: Buffer) => {
    passed.push(...data);
    const code = String.fromCharCode(data[0]!);
    if (code === 'C') query.handleCommandComplete({ text: data.toString('latin1', 5, data.length - 1) });
    if (code === 'Z') query.handleReadyForQuery();
  });
  query.submit({ stream, query() {} } as unknown as PostgresConnection);
  for (let at = 0; at < bytes.length; at += size) stream.write(bytes.subarray(at, at + size));
  stream.end(() => setImmediate(() => query.fail(new Error('the connection ended'))));
  const ids: string[] = [];
  const memory = new Set<Uint8Array>();
  for (let batch = await query.next(); batch; batch = await query.next()) {
    let start = 0;
    memory.add(batch.bytes);
    for (const end of batch.ends.subarray(0, batch.count)) {
      ids.push(Buffer.from(batch.bytes.subarray(start, end)).toString());
      start = end;
    }
  }
  return { ids, memory, passed: Buffer.from(passed) };
}

describe('CopyOut', () => {
  const whole = Buffer.concat([
    message('H', Buffer.from([1, 0, 1, 0, 1])),
    ...copyData(Buffer.concat([HEADER, row('one')]), row('zwölf'), row('x'), TRAILER),
    ...END,
  ]);

  it.each([1, 2, 3, 5, 7, 64, 4096])('reads rows that come in pieces of %d bytes', async (size) => {
    const { ids, passed } = await read(whole, size);
    expect(ids).toEqual(ROWS);
    expect(passed.toString('latin1')).toBe(
      Buffer.concat([message('H', Buffer.from([1, 0, 1, 0, 1])), ...END]).toString('latin1'),
    );
  });

  it('uses the memory of a batch again, and mixes up no rows by that', async () => {
    const rows = Array.from({ length: 120_000 }, (_, i) => `row-${i}`);
    const end = [message('C', Buffer.from(`COPY ${rows.length}\0`)), message('Z', Buffer.from('I'))];
    const data = Buffer.concat([...copyData(HEADER, ...rows.map(row), TRAILER), ...end]);
    const { ids, memory } = await read(data, 65_536);
    expect(ids).toEqual(rows);
    expect(memory.size).toBeLessThanOrEqual(5);
  });

  it('reads rows that are divided over messages in any way', async () => {
    const all = Buffer.concat([HEADER, ...ROWS.map(row), TRAILER]);
    for (let size = 1; size < all.length; size++) {
      const parts = Array.from({ length: Math.ceil(all.length / size) }, (_, i) =>
        all.subarray(i * size, (i + 1) * size),
      );
      expect((await read(Buffer.concat([...copyData(...parts), ...END]), 4096)).ids).toEqual(ROWS);
    }
  });

  it.each([
    ['no trailer', [HEADER, ...ROWS.map(row)], 'COPY ended before its last row'],
    [
      'a row less than the server says',
      [HEADER, row('one'), row('x'), TRAILER],
      'Expected COPY to return 3 rows',
    ],
    ['half a row at the end', [HEADER, row('one').subarray(0, 7)], 'COPY ended before its last row'],
    ['another format', [Buffer.from('one\nzwölf\nthree and more\n')], 'the binary format of Postgres'],
    ['two columns', [HEADER, Buffer.from([0, 2, 0, 0, 0, 0, 0, 0, 0, 0])], 'the binary format of Postgres'],
    ['rows after the trailer', [HEADER, row('one'), TRAILER, row('x')], 'the binary format of Postgres'],
    [
      'flags that it does not know',
      [Buffer.concat([HEADER.subarray(0, 11), Buffer.from([0, 1, 0, 0, 0, 0, 0, 0])])],
      'the binary format of Postgres',
    ],
  ])('fails for %s', async (_, parts, expected) => {
    await expect(read(Buffer.concat([...copyData(...parts), ...END]), 4096)).rejects.toThrow(expected);
  });

  it('fails for an integer that has not 8 bytes', async () => {
    const bytes = Buffer.concat([...copyData(HEADER, row('four')), ...END]);
    await expect(read(bytes, 4096, false)).rejects.toThrow('the binary format of Postgres');
  });

  it('fails when the connection ends', async () => {
    for (const size of [30, whole.length - 1])
      await expect(read(whole.subarray(0, size), 4096)).rejects.toThrow('the connection ended');
  });
});
