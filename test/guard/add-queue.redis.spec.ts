import { Injectable } from '@nestjs/common';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { type BloomEvent, BloomGuarded, BloomModule, BloomRegisters, BloomService } from 'nestjs-bloom';
import { eventually } from '../support/eventually.js';
import { type RedisServer, startRedis } from '../support/redis-server.js';
import { startContext } from '../support/nest-app.js';
import { PATIENT } from '../support/patience.js';

@Injectable()
class PhoneRepository {
  @BloomRegisters('phones', { onError: 'queue' })
  async create(phone: string) {
    return phone;
  }

  @BloomGuarded('phones')
  async find(phone: string) {
    return phone;
  }
}

let server: RedisServer;
let admin: Redis;

beforeAll(async () => {
  server = await startRedis();
  admin = new Redis(server.url);
});

afterAll(async () => {
  admin.disconnect();
  await server.stop();
});

it('lets an id pass that a full Redis refused, until it takes writes again', async () => {
  const events: BloomEvent[] = [];
  const start = () =>
    startContext({
      imports: [
        BloomModule.forRoot({
          redis: server.url,
          ...PATIENT,
          filters: [{ name: 'phones', capacity: 1000, errorRate: 1e-6, create: 'first-start', audit: false }],
          onEvent: (event) => events.push(event),
        }),
      ],
      providers: [PhoneRepository],
    });
  const app = await start();
  const other = await start();
  const mine = app.get(PhoneRepository);
  const others = other.get(PhoneRepository);
  await mine.create('1');

  await admin.config('SET', 'maxmemory', '1');
  expect(await mine.create('2')).toBe('2');
  expect(events.filter(({ type }) => type === 'add-queued')).toMatchObject([{ filter: 'phones', queued: 1 }]);
  expect([await mine.find('1'), await mine.find('2'), await mine.find('3')]).toEqual(['1', '2', null]);
  expect(await others.find('2')).toBeNull();
  const filter = app.get(BloomService).filter('phones');
  expect([await filter.check('2'), await filter.checkMany(['3', '2', '1'])]).toEqual([
    'maybe',
    ['absent', 'maybe', 'maybe'],
  ]);

  await admin.config('SET', 'maxmemory', '0');
  await eventually('it is recorded', async () => (await others.find('2')) !== null);
  expect([await mine.find('2'), await others.find('2')]).toEqual(['2', '2']);
  await app.close();
  await other.close();
});
