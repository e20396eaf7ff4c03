import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { INestApplicationContext } from '@nestjs/common';
import { PrismaPg } from '@prisma/adapter-pg';
import { Redis } from 'ioredis';
import { Column, DataSource, Entity, PrimaryColumn } from 'typeorm';
import { BloomGuardRunner, BloomModule, BloomService, BloomUnavailableError } from '../../src/index.js';
import { extendWithBloom } from '@nestjs-bloom/prisma';
import { BloomTypeOrmSubscriber, fromTypeOrm } from '@nestjs-bloom/typeorm';
import { eventually } from '../support/eventually.js';
import { startContext } from '../support/nest-app.js';
import { PATIENT } from '../support/patience.js';
import { type RedisServer, startRedis } from '../support/redis-server.js';
import { type GeneratedClient, generatedClient } from '../../packages/prisma/test/generated-client.js';
import { type ShopTables, startShopTables } from '../support/shop-tables.js';

@Entity('kinds')
class Kind {
  @PrimaryColumn({ type: 'text' })
  name!: string;

  @Column({ type: 'text', nullable: true })
  above!: string | null;
}

type OnError = 'throw' | 'queue';

let redis: RedisServer;
let shop: ShopTables;
let dataSource: DataSource;
let prisma: GeneratedClient;
const contexts: INestApplicationContext[] = [];

beforeAll(async () => {
  const [server, tables, Client] = await Promise.all([startRedis(), startShopTables(), generatedClient()]);
  redis = server;
  shop = tables;
  dataSource = await new DataSource({
    type: 'postgres',
    url: shop.server.url,
    entities: [Kind],
  }).initialize();
  prisma = new Client({ adapter: new PrismaPg({ connectionString: shop.server.url }) });
});
afterEach(async () => {
  await Promise.all(contexts.splice(0).map((context) => context.close()));
  await redis.restart();
});
afterAll(async () => {
  await dataSource?.destroy();
  await prisma?.$disconnect();
  await shop?.stop();
  await redis?.stop();
});

/** A process of the application, whose filter `kinds` is on Redis. */
async function start(onError: OnError, timeouts: object = PATIENT) {
  const context = await startContext({
    imports: [
      BloomModule.forRoot({
        redis: redis.url,
        ...timeouts,
        owner: 'writes',
        onEvent: () => {},
        filters: [
          {
            name: 'kinds',
            capacity: 1000,
            errorRate: 1e-6,
            source: fromTypeOrm(Kind, 'name', { dataSource }),
            rebuild: { drainMs: 0, onBoot: 'never' },
          },
        ],
      }),
    ],
    providers: [BloomTypeOrmSubscriber.provide(Kind, 'name', { dataSource, filter: 'kinds', onError })],
  });
  contexts.push(context);
  const runner = context.get(BloomGuardRunner, { strict: false });
  const of = { filter: 'kinds', onError };
  const client = extendWithBloom(prisma, runner, (made) => made.kind, 'name', of);
  const writes = {
    TypeORM: (name: string) => dataSource.getRepository(Kind).insert({ name }),
    Prisma: (name: string) => client.kind.create({ data: { name } }) as Promise<unknown>,
  };
  return { filter: context.get(BloomService).filter('kinds'), writes };
}

const isWritten = async (name: string) => (await shop.values('name', 'kinds')).includes(name);

describe.each(['TypeORM', 'Prisma'] as const)('a row written by %s', (library) => {
  it('is not written when Redis is full and its id cannot be recorded', async () => {
    const { filter, writes } = await start('throw');
    await filter.rebuild({ force: true });
    await limitMemory('1');
    await expect(writes[library](`${library} 1`)).rejects.toThrow(BloomUnavailableError);
    await limitMemory('0');
    expect(await isWritten(`${library} 1`)).toBe(false);
    await writes[library](`${library} 1`);
    expect(await filter.check(`${library} 1`)).toBe('maybe');
  });

  it('is written when Redis is full and its id is queued, which is recorded when Redis takes writes again', async () => {
    const { filter, writes } = await start('queue');
    await filter.rebuild({ force: true });
    await limitMemory('1');
    await writes[library](`${library} 2`);
    expect(await isWritten(`${library} 2`)).toBe(true);
    expect(await filter.check(`${library} 2`)).toBe('maybe');
    await limitMemory('0');
    await eventually('it is recorded', async () => (await filter.check(`${library} 2`)) === 'maybe');
  });

  it('is not written while Redis is down, and what was written before is never absent after it', async () => {
    const { filter, writes } = await start('throw');
    await filter.rebuild({ force: true });
    await writes[library](`${library} 3`);
    await Promise.all(contexts.splice(0).map((context) => context.close()));
    const { filter: hasty, writes: refused } = await start('throw', {
      timeoutMs: 1000,
      writeTimeoutMs: 1000,
    });
    await eventually('it is read', async () => (await hasty.check(`${library} 3`)) === 'maybe');
    await redis.kill();
    await expect(refused[library](`${library} 4`)).rejects.toThrow(BloomUnavailableError);
    expect(await isWritten(`${library} 4`)).toBe(false);
    await redis.restart();
    await eventually('it is built again', async () => {
      expect(await hasty.check(`${library} 3`)).not.toBe('absent');
      return hasty.rebuild({ force: true }).then(
        () => true,
        () => false,
      );
    });
    expect(await hasty.check(`${library} 3`)).toBe('maybe');
  });
});

async function limitMemory(bytes: string): Promise<void> {
  const admin = new Redis(redis.url);
  await admin.config('SET', 'maxmemory', bytes);
  admin.disconnect();
}
