import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { TestingModule } from '@nestjs/testing';
import { BloomConfigError, type BloomFilterOptions, BloomModule } from 'nestjs-bloom';
import { startContext } from '../support/nest-app.js';
import { PATIENT } from '../support/patience.js';
import { RedisFixture } from '../support/redis-fixture.js';
import { goZero, redisBloom, redisson } from '@nestjs-bloom/interop';
import { scaling } from '@nestjs-bloom/interop/scaling';

let redis: RedisFixture;
const opened: TestingModule[] = [];

beforeAll(async () => {
  redis = await RedisFixture.start();
});
afterEach(async () => {
  for (const module of opened.splice(0)) await module.close();
});
afterAll(() => redis.close());

async function start(...filters: Partial<BloomFilterOptions>[]): Promise<void> {
  const features = filters.map((options, i) => ({ name: `filter-${i}`, capacity: 1000, ...options }));
  opened.push(
    await startContext({
      imports: [
        BloomModule.forRoot({ redis: redis.server.url, ...PATIENT }),
        BloomModule.forFeature(features),
      ],
    }),
  );
}

const shared = goZero({ key: 'shared', bits: 1000 });

describe('Filters that cannot be as they are registered are refused at start', () => {
  it.each<[string, Partial<BloomFilterOptions>, RegExp]>([
    ['on a key of others', { layout: shared }, /with the layout blocked, got go-zero\. Remove it/],
    ['that grows', { layout: scaling() }, /with the layout blocked, got scaling\. Remove it/],
  ])('shared denials of a filter %s', async (_, options, message) => {
    const starting = start({ ...options, negativeCache: { shared: true } });
    await expect(starting).rejects.toThrow(BloomConfigError);
    await expect(start({ ...options, negativeCache: { shared: true } })).rejects.toThrow(message);
  });

  it.each<[string, Partial<BloomFilterOptions>]>([
    ['of the same kind', { layout: shared }],
    ['of another kind', { layout: redisson({ name: 'shared', codec: 'StringCodec' }) }],
    ['of BF.*', { layout: redisBloom({ key: 'shared' }) }],
  ])('two filters on one key, the second one %s', async (_, second) => {
    await expect(start({ layout: shared }, second)).rejects.toThrow(
      /a key of its own, got the filters 'filter-0' and 'filter-1' on the key 'shared'\. Register one/,
    );
  });

  it('two filters on two keys are not', async () => {
    await start({ layout: shared }, { layout: goZero({ key: 'another', bits: 1000 }) });
  });
});
