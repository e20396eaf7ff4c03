import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { TestingModule } from '@nestjs/testing';
import {
  type BloomEvent,
  type BloomFilter,
  type BloomIdSource,
  BloomModule,
  BloomService,
} from 'nestjs-bloom';
import { eventually } from '../support/eventually.js';
import { startContext } from '../support/nest-app.js';
import { PATIENT } from '../support/patience.js';
import { RedisFixture } from '../support/redis-fixture.js';

type Id = string | number;

/** What a source gives, sorted or not, and what it says of it. */
interface Claims {
  readonly idOrder?: 'integer' | 'text';
  readonly newest: boolean;
  readonly idAt: (place: number) => Id;
}

const ROWS = 300;
const numbered = (place: number) => `k${String(place).padStart(6, '0')}`;
const mixed = (place: number) => (place % 2 === 0 ? place : numbered(place));

describe('A source that is wrong about the order of its ids', () => {
  let redis: RedisFixture;
  const opened: TestingModule[] = [];
  beforeAll(async () => {
    redis = await RedisFixture.start();
  });
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((module) => module.close()));
    await redis.client().flushall();
  });
  afterAll(() => redis.close());

  function source({ idOrder, newest }: Claims, rows: Id[]): BloomIdSource {
    return {
      ids: async function* () {
        yield [...rows];
      },
      idsSince: async function* (mark) {
        const from = mark === undefined ? 0 : rows.findIndex((id) => String(id) === String(mark)) + 1;
        yield rows.slice(from);
      },
      ...(idOrder && { idOrder }),
      ...(newest && { newest: async (others = 0) => rows.at(-1 - others) }),
    };
  }

  async function start(claims: Claims): Promise<{ filter: BloomFilter; rows: Id[]; events: BloomEvent[] }> {
    const events: BloomEvent[] = [];
    const rows = Array.from({ length: ROWS }, (_, i) => claims.idAt(i + 1));
    const module = await startContext({
      imports: [
        BloomModule.forRoot({ redis: redis.server.url, ...PATIENT, onEvent: (event) => events.push(event) }),
        BloomModule.forFeature({
          name: 'things',
          capacity: 1000,
          errorRate: 1e-6,
          source: source(claims, rows),
          rebuild: { drainMs: 50, leaseMs: 5_000 },
          coverage: 'ordered',
          topUp: { everyMs: 20, overlapMs: 100 },
        }),
      ],
    });
    opened.push(module);
    const filter = module.get(BloomService).filter('things');
    await eventually('the filter is ready', async () => (await filter.info()).state === 'ready');
    return { filter, rows, events };
  }

  it.each<[string, Claims, RegExp]>([
    [
      'texts as integers',
      { idOrder: 'integer', newest: true, idAt: numbered },
      /idOrder of the source names, got 'string:k000/,
    ],
    [
      'texts as integers, without newest',
      { idOrder: 'integer', newest: false, idAt: numbered },
      /idOrder names, got 'k000/,
    ],
    [
      'integers and texts',
      { idOrder: 'integer', newest: true, idAt: mixed },
      /same kind as the mark, \d+, got 'k000/,
    ],
    [
      'a descending order',
      { idOrder: 'integer', newest: true, idAt: (at) => 1000 - at },
      /ascending order, compared as integers/,
    ],
  ])('reports %s, and denies no row', async (_, claims, message) => {
    const { filter, rows, events } = await start(claims);
    for (let i = 0; i < 50; i++) rows.push(claims.idAt(rows.length + 1));
    const told = () =>
      events
        .map((event) =>
          event.type === 'top-up-failed' ? String(event.error) : 'reason' in event && String(event.reason),
        )
        .find((text) => text && message.test(text));
    await eventually('an event says what is wrong', () => told() !== undefined);
    for (const id of rows) expect([id, await filter.check(id)]).not.toEqual([id, 'absent']);
  });
});
