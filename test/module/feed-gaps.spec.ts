import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { TestingModule } from '@nestjs/testing';
import { type BloomFeedContext, BloomModule, BloomService } from 'nestjs-bloom';
import { eventually } from '../support/eventually.js';
import { startContext } from '../support/nest-app.js';
import { PATIENT } from '../support/patience.js';
import { RedisFixture } from '../support/redis-fixture.js';

describe('A feed that has missed rows', () => {
  let redis: RedisFixture;
  let module: TestingModule | undefined;
  beforeEach(async () => {
    redis = await RedisFixture.start();
  });
  afterEach(async () => {
    await module?.close();
    module = undefined;
    await redis.close();
  });

  it('waits for a rebuild that began after the last gap was found', async () => {
    /** Scans that have begun; each waits for its turn to go on. */
    const scans: (() => void)[] = [];
    const rows = ['first'];
    const name = redis.name();
    let followed: BloomFeedContext | undefined;
    module = await startContext({
      imports: [
        BloomModule.forRoot({ redis: redis.server.url, ...PATIENT }),
        BloomModule.forFeature([
          {
            name,
            capacity: 1000,
            errorRate: 1e-6,
            rebuild: { drainMs: 1, leaseMs: 5_000, onBoot: 'never' },
            source: {
              async *ids() {
                const found = [...rows];
                await new Promise<void>((resolve) => scans.push(resolve));
                yield found;
              },
            },
            feed: {
              follow: (context) => {
                followed = context;
                return new Promise((resolve) => context.signal.addEventListener('abort', () => resolve()));
              },
            },
          },
        ]),
      ],
    });
    const filter = module.get(BloomService).filter(name);
    await eventually('the feed runs', () => followed !== undefined);
    const { missed, save } = followed!;
    missed('The log begins here.');
    await eventually('the source is read', () => scans.length === 1);
    rows.push('missed');
    missed('Somebody has read from the log.');
    scans[0]!();
    await eventually('the first rebuild is live', async () => (await filter.check('first')) === 'maybe');
    await eventually('the source is read again', () => scans.length === 2);
    expect(await filter.check('missed')).toBe('absent');
    expect(await save('1')).toBe(false);
    scans[1]!();
    await eventually('a place can be noted', () => save('2'));
    expect(await filter.check('missed')).toBe('maybe');
  });
});
