import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { BloomUnavailableError } from '../../../../src/common/index.js';
import type { StoredFilter } from '../../../../src/store/index.js';
import { build, idsOf } from '../../../support/built-filter.js';
import { eventually } from '../../../support/eventually.js';
import { expectFound } from '../../../support/never-absent.js';
import { openOptions } from '../../../support/open-options.js';
import { RedisFixture } from '../../../support/redis-fixture.js';

const TIMEOUT_MS = 100;
const WRITE_TIMEOUT_MS = 300;
/** What a busy machine may add to a timer, far below what a client of Redis waits on its own. */
const SLACK_MS = 15_000;

let redis: RedisFixture;
beforeEach(async () => {
  redis = await RedisFixture.start();
});
afterEach(async () => {
  await redis.server.kill('SIGCONT');
  await redis.close();
});

/** A process with short deadlines that has looked at a filter of one id. */
async function open() {
  await build((await redis.open('products')).filter, ['a']);
  const instance = await redis.open('products', { timeoutMs: TIMEOUT_MS, writeTimeoutMs: WRITE_TIMEOUT_MS });
  await expectFound([instance.filter], ['a']);
  return instance;
}

function isAdded(filter: StoredFilter, id: string): Promise<boolean> {
  return filter.add([id]).then(
    () => true,
    () => false,
  );
}

async function timed<Value>(work: () => Promise<Value>): Promise<{ value: Value; ms: number }> {
  const start = performance.now();
  return { value: await work(), ms: performance.now() - start };
}

describe('While the server hangs', () => {
  it('a lookup is unknown after timeoutMs, one by one and many at once', async () => {
    const { filter, events } = await open();
    await redis.server.kill('SIGSTOP');
    const one = await timed(() => filter.check(['a']));
    expect(one.value).toEqual(['unknown']);
    expect(one.ms).toBeGreaterThan(TIMEOUT_MS - 5);
    expect(one.ms).toBeLessThan(TIMEOUT_MS + SLACK_MS);
    const ids = idsOf('id', 5000);
    const many = await timed(() => filter.check(ids));
    expect(many.value).toEqual(ids.map(() => 'unknown'));
    expect(many.ms).toBeLessThan(TIMEOUT_MS + SLACK_MS);
    expect(events).toContainEqual(expect.objectContaining({ type: 'store-error', operation: 'check' }));
  });

  it('a first lookup, which needs the description, is unknown too', async () => {
    const { store } = await open();
    await redis.server.kill('SIGSTOP');
    const fresh = store.open(openOptions());
    expect((await timed(() => fresh.check(['a']))).value).toEqual(['unknown']);
  });

  it('an add rejects after writeTimeoutMs', async () => {
    const { filter } = await open();
    await eventually('an add is through', () => isAdded(filter, 'b'));
    await redis.server.kill('SIGSTOP');
    const { value: error, ms } = await timed(() => filter.add(['c']).catch((reason: unknown) => reason));
    expect(error).toBeInstanceOf(BloomUnavailableError);
    expect(ms).toBeGreaterThan(WRITE_TIMEOUT_MS - 5);
    expect(ms).toBeLessThan(WRITE_TIMEOUT_MS + SLACK_MS);
  });

  it('lookups without end do not pile up', async () => {
    const { filter } = await open();
    await redis.server.kill('SIGSTOP');
    const calls: Promise<unknown>[] = [];
    for (let i = 0; i < 1500; i++) {
      calls.push(filter.check(['a']));
      if (i % 50 === 0) await new Promise(setImmediate);
    }
    const { value, ms } = await timed(() => Promise.all(calls));
    expect(new Set((value as string[][]).flat())).toEqual(new Set(['unknown']));
    expect(ms).toBeLessThan(TIMEOUT_MS + SLACK_MS);
  });

  it('and goes on, everything works again, and an add that was given up harms nobody', async () => {
    const { filter } = await open();
    await eventually('an add is through', () => isAdded(filter, 'b'));
    await redis.server.kill('SIGSTOP');
    await expect(filter.add(['given up'])).rejects.toThrow(BloomUnavailableError);
    await redis.server.kill('SIGCONT');
    await eventually('answers are back', async () => (await filter.check(['x']))[0] === 'absent');
    await eventually('adds are through', () => isAdded(filter, 'c'));
    await expectFound([filter], ['a', 'b', 'c']);
  });
});

describe('A lookup while the process itself was held up', () => {
  it('takes the reply that waits in the socket, though its time is up', async () => {
    const { filter } = await open();
    // Where the server was held up as well, there is none: the next one counts.
    await eventually('a reply is taken', async () => {
      const look = filter.check(['a']);
      await new Promise((resolve) => process.nextTick(resolve));
      for (const end = performance.now() + 3 * TIMEOUT_MS; performance.now() < end;);
      return (await look)[0] === 'maybe';
    });
  });
});
