import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Redis } from 'ioredis';
import { build } from '../../../../support/built-filter.js';
import { openLeased } from '../../../../support/leased-reader.js';
import { type PreviousProcess, startPrevious } from '../../../../support/previous/previous-process.js';
import { RedisFixture } from '../../../../support/redis-fixture.js';

let redis: RedisFixture;
let admin: Redis;
beforeAll(async () => {
  redis = await RedisFixture.start();
  admin = redis.client();
});
afterAll(() => redis.close());

const started: PreviousProcess[] = [];
afterEach(() => {
  for (const process of started.splice(0)) process.close();
});

async function system(leaseMs?: number) {
  const name = redis.name();
  const maker = await redis.open(name);
  await build(maker.filter, ['built']);
  const reader = await openLeased(redis, name, { leaseMs });
  const start = async () => {
    const previous = await startPrevious(redis.server.url, name);
    started.push(previous);
    return previous;
  };
  /** All that the filter has. */
  const contents = async () => ({
    meta: await admin.hgetall(`bloom:{${name}}:meta`),
    segment: (await admin.getBuffer(`bloom:{${name}}:0`))!.toString('base64'),
  });
  const removeMeta = () => admin.del(`bloom:{${name}}:meta`);
  const formatOf = () => admin.hget(`bloom:{${name}}:meta`, 'format');
  return { maker, reader, start, contents, removeMeta, formatOf };
}

const NEWER = expect.objectContaining({ type: 'newer-format', found: '4' });

describe('A process with the store of the version before leases', () => {
  it('shares a filter that nobody reads with leases', async () => {
    // A process that knows of leases where the metadata know of none waits for as long as one.
    const { reader, start } = await system(200);
    const previous = await start();
    expect(await previous.do('add', ['of before'])).toMatchObject({ result: [true] });
    expect(await reader.filter.add(['of now'])).toEqual([true]);
    expect(await previous.do('check', ['of now', 'none'])).toMatchObject({ result: ['maybe', 'absent'] });
    await previous.do('rebuild', ['rebuilt']);
    expect(await reader.filter.check(['rebuilt', 'of now'])).toEqual(['maybe', 'absent']);
  });

  it('adds nothing to one that is read with leases', async () => {
    const { reader, start, contents } = await system();
    await reader.join();
    const before = await contents();
    const previous = await start();
    const added = await previous.do('add', ['new']);
    expect(added.error).toMatch('format 4');
    expect(added.events).toContainEqual(NEWER);
    expect(await previous.do('check', ['new'])).toMatchObject({ result: ['unknown'] });
    expect(await contents()).toEqual(before);
  });

  it('adds nothing with what it knows of the filter from before', async () => {
    const { reader, start, contents } = await system();
    const previous = await start();
    await previous.do('add', ['of before']);
    await reader.join();
    const before = await contents();
    const added = await previous.do('add', ['new']);
    expect(added.error).toMatch('format 4');
    expect(added.events).toContainEqual(NEWER);
    expect(await contents()).toEqual(before);
  });

  it('rebuilds nothing that is read with leases', async () => {
    const { reader, start, contents } = await system();
    const previous = await start();
    await previous.do('add', ['of before']);
    await reader.join();
    const before = await contents();
    expect((await previous.do('rebuild', ['rebuilt'])).error).toMatch('format');
    expect(await contents()).toEqual(before);
  });

  it('has the filter back once nobody reads with leases, when its metadata are removed', async () => {
    const { maker, reader, start, removeMeta, formatOf } = await system();
    await reader.join();
    await reader.close();
    await maker.filter.close();
    const previous = await start();
    await removeMeta();
    expect(await previous.do('check', ['built'])).toMatchObject({ result: ['unknown'] });
    await previous.do('rebuild', ['built']);
    expect(await formatOf()).toBe('1');
    expect(await previous.do('add', ['new'])).toMatchObject({ result: [true] });
    const checked = await previous.do('check', ['built', 'new', 'none']);
    expect(checked).toMatchObject({ result: ['maybe', 'maybe', 'absent'] });
  });
});
