import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { BloomUnavailableError } from '../../../../src/common/index.js';
import { build, idsOf } from '../../../support/built-filter.js';
import { eventually } from '../../../support/eventually.js';
import { expectFound } from '../../../support/never-absent.js';
import { RedisFixture } from '../../../support/redis-fixture.js';

const TIMEOUT_MS = 100;
const WRITE_TIMEOUT_MS = 300;
/** What a busy machine may add to a timer. */
const SLACK_MS = 1500;

let redis: RedisFixture;
beforeEach(async () => {
  redis = await RedisFixture.start();
});
afterEach(async () => {
  await redis.server.kill('SIGCONT');
  await redis.close();
});

function open() {
  return redis.open('products', { timeoutMs: TIMEOUT_MS, writeTimeoutMs: WRITE_TIMEOUT_MS });
}

async function timed<Value>(promise: Promise<Value>): Promise<{ value: Value; ms: number }> {
  const start = performance.now();
  return { value: await promise, ms: performance.now() - start };
}

describe('While the server hangs', () => {
  it('a lookup is unknown after timeoutMs, one by one and many at once', async () => {
    const { filter, events } = await open();
    await build(filter, ['a']);
    await filter.check(['a']);
    await redis.server.kill('SIGSTOP');
    const one = await timed(filter.check(['a']));
    expect(one.value).toEqual(['unknown']);
    expect(one.ms).toBeGreaterThan(TIMEOUT_MS - 5);
    expect(one.ms).toBeLessThan(TIMEOUT_MS + SLACK_MS);
    const ids = idsOf('id', 5000);
    const many = await timed(filter.check(ids));
    expect(many.value).toEqual(ids.map(() => 'unknown'));
    expect(many.ms).toBeLessThan(TIMEOUT_MS + SLACK_MS);
    expect(events).toContainEqual(expect.objectContaining({ type: 'store-error', operation: 'check' }));
  });

  it('a first lookup, which needs the description, is unknown too', async () => {
    const { filter } = await open();
    await build(filter, ['a']);
    const fresh = await open();
    await fresh.filter.describe();
    await redis.server.kill('SIGSTOP');
    await filter.close();
    expect((await timed(filter.check(['a']))).value).toEqual(['unknown']);
  });

  it('an add rejects after writeTimeoutMs', async () => {
    const { filter } = await open();
    await build(filter, ['a']);
    await filter.add(['b']);
    await redis.server.kill('SIGSTOP');
    const { value: error, ms } = await timed(filter.add(['c']).catch((reason: unknown) => reason));
    expect(error).toBeInstanceOf(BloomUnavailableError);
    expect(ms).toBeGreaterThan(WRITE_TIMEOUT_MS - 5);
    expect(ms).toBeLessThan(WRITE_TIMEOUT_MS + SLACK_MS);
  });

  it('lookups without end do not pile up', async () => {
    const { filter } = await open();
    await build(filter, ['a']);
    await filter.check(['a']);
    await redis.server.kill('SIGSTOP');
    const calls: Promise<unknown>[] = [];
    for (let i = 0; i < 1500; i++) {
      calls.push(filter.check(['a']));
      if (i % 50 === 0) await new Promise(setImmediate);
    }
    const { value, ms } = await timed(Promise.all(calls));
    expect(new Set((value as string[][]).flat())).toEqual(new Set(['unknown']));
    expect(ms).toBeLessThan(TIMEOUT_MS + SLACK_MS);
  });

  it('and goes on, everything works again, and an add that was given up harms nobody', async () => {
    const { filter } = await open();
    await build(filter, ['a']);
    await filter.add(['b']);
    await redis.server.kill('SIGSTOP');
    await expect(filter.add(['given up'])).rejects.toThrow(BloomUnavailableError);
    await redis.server.kill('SIGCONT');
    await eventually('answers are back', async () => (await filter.check(['x']))[0] === 'absent');
    await filter.add(['c']);
    await expectFound([filter], ['a', 'b', 'c']);
  });
});

describe('A lookup while the process itself was held up', () => {
  it('takes the reply that waits in the socket, though its time is up', async () => {
    const { filter } = await open();
    await build(filter, ['a']);
    await filter.check(['a']);
    const look = filter.check(['a']);
    await new Promise((resolve) => process.nextTick(resolve));
    for (const end = performance.now() + 3 * TIMEOUT_MS; performance.now() < end;);
    expect(await look).toEqual(['maybe']);
  });
});
