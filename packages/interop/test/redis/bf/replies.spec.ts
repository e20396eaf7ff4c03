import { describe, expect, it } from '@jest/globals';
import { BloomFullError } from 'nestjs-bloom/filter';
import { BloomUnavailableError } from 'nestjs-bloom/store';
import { redisBloom } from '../../../src/index.js';
import { parseExists, parseInfo, parseInsert } from '../../../src/redis/bf/replies.js';
import { fromHex, readVectors } from '../../formats/vectors.js';

/** A reply as the vectors write it. */
type Recorded =
  | number
  | boolean
  | null
  | { readonly simple: string }
  | { readonly error: string }
  | { readonly map: readonly (readonly [Recorded, Recorded])[] }
  | readonly Recorded[];

interface Command {
  readonly command: readonly string[];
  readonly resp2: Recorded;
  readonly resp3?: Recorded;
}

const { commands, loadchunk } = readVectors<{
  readonly commands: readonly Command[];
  readonly loadchunk: readonly {
    readonly case: string;
    readonly chunks: readonly { readonly iter: number; readonly hex: string }[];
    readonly existsAfter: number;
  }[];
}>('redisbloom');

/** How clients give a reply: maps as objects, as `Map` or as flat lists. */
const CLIENTS = ['object', 'map', 'flat'] as const;
type Client = (typeof CLIENTS)[number];

function isList(reply: Recorded): reply is readonly Recorded[] {
  return Array.isArray(reply);
}

function given(reply: Recorded, client: Client): unknown {
  if (isList(reply)) return reply.map((one) => given(one, client));
  if (typeof reply !== 'object' || reply === null) return reply;
  if ('simple' in reply) return reply.simple;
  if ('error' in reply) return new Error(reply.error);
  if (!('map' in reply)) throw new Error(`Unknown reply ${JSON.stringify(reply)}`);
  const entries = reply.map.map(([name, value]) => [given(name, client), given(value, client)] as const);
  if (client === 'map') return new Map(entries);
  return client === 'object' ? Object.fromEntries(entries) : entries.flat();
}

/** The recorded replies of a command that was not refused, in both protocols. */
function recorded(name: string, wanted: (command: readonly string[]) => boolean = () => true) {
  return commands
    .filter(({ command }) => command[0] === name && wanted(command))
    .flatMap(({ command, resp2, resp3 }) => [
      { command: command.join(' '), protocol: 'RESP2', reply: resp2 },
      ...(resp3 === undefined ? [] : [{ command: command.join(' '), protocol: 'RESP3', reply: resp3 }]),
    ])
    .filter(({ reply }) => typeof reply !== 'object' || reply === null || !('error' in reply));
}

describe('Replies of BF.MEXISTS', () => {
  const cases = recorded('BF.MEXISTS');

  it('were recorded in both protocols', () => {
    expect(new Set(cases.map(({ protocol }) => protocol))).toEqual(new Set(['RESP2', 'RESP3']));
  });

  it.each(cases)('$command, $protocol', ({ reply }) => {
    const flags = (reply as readonly (number | boolean)[]).map(Boolean);
    expect(parseExists(given(reply, 'flat'), flags.length)).toEqual(flags);
    expect(
      parseExists(
        flags.map((flag) => (flag ? '1' : '0')),
        flags.length,
      ),
    ).toEqual(flags);
  });

  it.each([
    ['too short', [1, 0]],
    ['too long', [1, 0, 0, 1]],
    ['no list', 0],
    ['with an error in it', [1, new Error('ERR'), 0]],
    ['with nothing in it', [1, null, 0]],
    ['with other numbers', [1, 2, 0]],
  ])('that are %s are no answer', (_, reply) => {
    expect(() => parseExists(reply, 3)).toThrow(BloomUnavailableError);
  });
});

describe('Replies of BF.INSERT', () => {
  it.each(recorded('BF.INSERT', (command) => command.includes('ITEMS')))(
    '$command, $protocol',
    ({ command, reply }) => {
      const sent = command.split(' ITEMS ')[1]!.split(' ').length;
      const replies = reply as readonly Recorded[];
      const isFull = typeof replies.at(-1) === 'object';
      const parse = () => parseInsert(given(reply, 'flat'), sent);
      if (isFull) expect(parse).toThrow(BloomFullError);
      else expect(parse()).toEqual(replies.map(Boolean));
    },
  );

  it('cut short by a full filter were recorded', () => {
    const full = recorded('BF.INSERT').filter(({ reply }) =>
      JSON.stringify(reply).includes('filter is full'),
    );
    expect(full.length).toBeGreaterThan(1);
  });

  it('that are booleans, and text from a client that is asked for it, are understood', () => {
    expect(parseInsert([true, false], 2)).toEqual([true, false]);
    expect(parseInsert(['1', '0'], 2)).toEqual([true, false]);
  });

  it.each([
    ['cut short without an error', [1]],
    ['with another error among the ids', [1, new Error('ERR problem inserting into filter')]],
    ['with an error that is not the last', [new Error('ERR problem inserting into filter'), 1]],
    ['no list', 'OK'],
  ])('%s add nothing', (_, reply) => {
    expect(() => parseInsert(reply, 2)).toThrow(BloomUnavailableError);
  });
});

describe('Replies of BF.INFO', () => {
  const cases = recorded('BF.INFO', (command) => command.length === 2);

  it('were recorded in both protocols', () => {
    expect(new Set(cases.map(({ protocol }) => protocol))).toEqual(new Set(['RESP2', 'RESP3']));
  });

  it.each(cases.flatMap((one) => CLIENTS.map((client) => ({ ...one, client }))))(
    '$command, $protocol, $client',
    ({ reply, client }) => {
      const flat = given(reply, 'flat') as unknown[];
      const fields = (flat.length === 5 ? flat.flat() : flat) as (string | number | null)[];
      const values = fields.filter((_, i) => i % 2 === 1);
      expect(parseInfo(given(reply, client))).toEqual({
        capacity: values[0],
        bytes: values[1],
        links: values[2],
        items: values[3],
        expansion: values[4] ?? undefined,
      });
    },
  );

  it('of servers with further fields are understood', () => {
    const more = ['Tightening ratio', '0.5', 'Max scaled capacity', 26214300];
    const reply = [
      'Capacity',
      10,
      'Size',
      112,
      'Number of filters',
      1,
      'Number of items inserted',
      2,
      'Expansion rate',
      2,
    ];
    expect(parseInfo([...reply, ...more])).toMatchObject({ capacity: 10, items: 2 });
    expect(parseInfo(reply.map(String))).toMatchObject({ capacity: 10, items: 2, expansion: 2 });
  });

  it.each([
    ['a field is missing', ['Capacity', 10]],
    ['no list', 'OK'],
    ['nothing', null],
  ])('in which %s are no description', (_, reply) => {
    expect(() => parseInfo(reply)).toThrow(BloomUnavailableError);
  });
});

describe('Chunks for BF.LOADCHUNK', () => {
  const accepted = loadchunk.filter(({ existsAfter }) => existsAfter === 1);

  it.each(accepted)('as the server accepted them: $case', ({ chunks }) => {
    const filter = redisBloom.read(chunks.map(({ iter, hex }) => ({ iterator: iter, data: fromHex(hex) })));
    for (const pieceBytes of [8, 16, 256 * 1024]) {
      const pieces = [...filter.chunks(pieceBytes)];
      expect(pieces[0]).toEqual({ iterator: 1, data: fromHex(chunks[0]!.hex) });
      expect(pieces.at(-1)!.iterator).toBe(chunks.at(-1)!.iter);
      expect(Buffer.concat(pieces.slice(1).map(({ data }) => data))).toEqual(
        Buffer.concat(chunks.slice(1).map(({ hex }) => fromHex(hex))),
      );
    }
  });

  it('are those of the dump, whatever their length, over all links', () => {
    const filter = redisBloom.create({ capacity: 10, errorRate: 0.01 });
    for (let i = 0; i < 100; i++) filter.add(`id-${i}`);
    expect(filter.describe().length).toBeGreaterThan(2);
    const whole = filter.write();
    for (const pieceBytes of [1, 7, 64, 1 << 20]) {
      const pieces = [...filter.chunks(pieceBytes)];
      expect(redisBloom.read(pieces).write()).toEqual(whole);
      expect(pieces.every(({ data }, i) => i === 0 || data.length <= pieceBytes)).toBe(true);
    }
  });
});
