import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { TerminusModule } from '@nestjs/terminus';
import type { TestingModule } from '@nestjs/testing';
import { type BloomEvent, BloomModule, BloomService } from 'nestjs-bloom';
import { BloomHealthIndicator, type BloomHealthOptions } from '../../src/integrations/terminus/index.js';
import { eventually } from '../support/eventually.js';
import { startContext } from '../support/nest-app.js';
import { PATIENT } from '../support/patience.js';
import { RedisFixture } from '../support/redis-fixture.js';
import { products } from './support/shop.js';

let redis: RedisFixture;
let module: TestingModule;
const events: BloomEvent[] = [];

const health = async (options: BloomHealthOptions) =>
  (await module.get(BloomHealthIndicator).isHealthy('products', options))['products'];

beforeEach(async () => {
  redis = await RedisFixture.start();
  const onEvent = (event: BloomEvent) => void events.push(event);
  module = await startContext({
    imports: [
      BloomModule.forRoot({
        redis: redis.server.url,
        owner: 'shop',
        ...PATIENT,
        filters: [products],
        onEvent,
      }),
      TerminusModule,
    ],
    providers: [BloomHealthIndicator],
  });
  await module.get(BloomService).filter('products').rebuild();
});

afterEach(async () => {
  await module.close();
  await redis.close();
  events.length = 0;
});

describe('BloomHealthIndicator with a Redis', () => {
  it('that is gone: up as long as nothing more is asked for, without the address of the server', async () => {
    expect(await health({ allow: [] })).toMatchObject({ status: 'up', state: 'ready' });
    await redis.server.kill();
    await eventually(
      'the answer of before is too old',
      async () => (await health({}))?.['state'] !== 'ready',
    );
    const found = await health({});
    expect(found).toEqual({ status: 'up', state: 'unavailable', message: expect.any(String) });
    expect(JSON.stringify(found)).not.toContain(String(redis.server.port));
    expect(await health({ allow: [] })).toMatchObject({ status: 'down', state: 'unavailable' });
    expect(await health({ allow: ['unavailable'], maxAgeMs: 1 })).toMatchObject({ status: 'up' });
    await eventually('an event says why', () =>
      events.some((one) => one.type === 'store-error' && one.operation === 'info'),
    );
  });

  it('that does not answer: ends at its own deadline', async () => {
    await eventually('the answer of before is too old, and the server answers no more', async () => {
      process.kill(redis.server.pid, 'SIGSTOP');
      return (await health({ timeoutMs: 50 }))?.['state'] === 'unavailable';
    });
    try {
      expect(await health({ timeoutMs: 50, allow: [] })).toEqual({
        status: 'down',
        state: 'unavailable',
        message: expect.stringMatching(/did not answer within 50 ms|could not be asked/),
      });
    } finally {
      process.kill(redis.server.pid, 'SIGCONT');
    }
  });
});
