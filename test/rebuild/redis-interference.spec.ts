import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Redis } from 'ioredis';
import type { BloomRebuildError } from '../../src/common/index.js';
import { runRebuild } from '../../src/rebuild/index.js';
import { idsOf } from '../support/built-filter.js';
import { eventually } from '../support/eventually.js';
import { expectFound, expectNeverAbsent } from '../support/never-absent.js';
import { heldSource, rebuildJob, sourceOf } from '../support/rebuild-job.js';
import { type Instance, RedisFixture } from '../support/redis-fixture.js';

const OLD = idsOf('old', 100);
const NEW = idsOf('new', 100);

describe('A rebuild on Redis, when somebody interferes while it reads', () => {
  let redis: RedisFixture;
  let admin: Redis;
  let name: string;
  let rebuilder: Instance;
  let other: Instance;

  beforeAll(async () => {
    redis = await RedisFixture.start();
    admin = redis.client();
  });
  afterAll(() => redis.close());

  beforeEach(async () => {
    name = redis.name();
    rebuilder = await redis.open(name);
    other = await redis.open(name);
    await runRebuild(rebuildJob(rebuilder.filter, sourceOf(OLD)));
  });

  /** Starts a rebuild to NEW, does something while it waits for the source, and gives how it ended. */
  async function interfered(interfere: () => Promise<unknown>, leaseMs = 60_000): Promise<string> {
    const held = heldSource(NEW);
    const run = runRebuild(rebuildJob(rebuilder.filter, held.source, { leaseMs }));
    const ended = run.then(
      ({ outcome }) => outcome,
      (error: BloomRebuildError) => error.reason,
    );
    await held.reached;
    await interfere();
    held.release();
    return ended;
  }

  async function keysOf(pattern: string): Promise<string[]> {
    return admin.keys(`bloom:{${name}}:${pattern}`);
  }

  it('publishes when nobody does, and leaves nothing but live segments and metadata', async () => {
    expect(await interfered(async () => {})).toBe('published');
    await expectFound([rebuilder.filter, other.filter], NEW);
    expect((await keysOf('*')).sort()).toEqual([`bloom:{${name}}:0`, `bloom:{${name}}:meta`]);
    expect(await admin.ttl(`bloom:{${name}}:0`)).toBe(-1);
  });

  it('fails when its lease was taken by another process, and leaves the old filter and no staging', async () => {
    expect(await interfered(() => admin.set(`bloom:{${name}}:lease`, 'another'))).toBe('lease-lost');
    await expectFound([rebuilder.filter, other.filter], OLD);
    expect(await keysOf('next:*')).toEqual([]);
    expect(await admin.get(`bloom:{${name}}:lease`)).toBe('another');
  });

  it('fails when its lease expired, even if nobody took it', async () => {
    expect(await interfered(() => admin.del(`bloom:{${name}}:lease`))).toBe('lease-lost');
    await expectFound([rebuilder.filter, other.filter], OLD);
  });

  it('keeps its lease and its staging alive for as long as it runs', async () => {
    const leaseMs = 6000;
    const untilRenewed = async () => {
      const [staged] = await keysOf('next:*');
      for (const key of [`bloom:{${name}}:lease`, staged!]) {
        // Without a renewal a life only gets shorter, from one look to the next.
        let life = Infinity;
        await eventually(`the life of ${key} is renewed`, async () => {
          const before = life;
          life = await admin.pttl(key);
          return life > before;
        });
      }
    };
    expect(await interfered(untilRenewed, leaseMs)).toBe('published');
    await expectFound([other.filter], NEW);
  });

  it('is overtaken by the one who took the lease, and adds of either time are kept', async () => {
    const overtake = async () => {
      await admin.del(`bloom:{${name}}:lease`);
      await other.filter.add(['added-first']);
      await runRebuild(rebuildJob(other.filter, sourceOf([...NEW, 'added-first'])));
      await other.filter.add(['added-then']);
    };
    expect(await interfered(overtake)).toBe('lease-lost');
    await expectFound([rebuilder.filter, other.filter], [...NEW, 'added-first', 'added-then']);
  });

  it('fails when a staged segment is deleted, truncated, or another type', async () => {
    // Keys of the staging that is published: an earlier one may have left keys on a busy machine.
    const staged = async () =>
      `bloom:{${name}}:next:${await admin.hget(`bloom:{${name}}:meta`, 'pending.token')}:0`;
    for (const damage of [
      async () => expect(await admin.del(await staged())).toBe(1),
      async () => admin.set(await staged(), 'short'),
      async () => {
        const key = await staged();
        await admin.del(key);
        await admin.sadd(key, 'member');
      },
    ]) {
      const reason = await interfered(damage);
      expect(['staging-damaged', 'store-failed']).toContain(reason);
      await expectFound([rebuilder.filter, other.filter], OLD);
    }
  });

  it('fails when an add meets a damaged staging, though it was whole again by the swap', async () => {
    const damageForAWhile = async () => {
      const [key] = await keysOf('next:*');
      const saved = await admin.dumpBuffer(key!);
      await admin.del(key!);
      await other.filter.add(['added']);
      await admin.restore(key!, 60_000, saved!);
    };
    expect(await interfered(damageForAWhile)).toBe('staging-damaged');
    await expectFound([rebuilder.filter, other.filter], [...OLD, 'added']);
  });

  it('goes live after the old filter was lost, with what was added in between', async () => {
    const lose = async () => {
      await admin.del(`bloom:{${name}}:0`);
      expect(await other.filter.check(['old-1'])).toEqual(['unknown']);
      await other.filter.add(['added']);
      await expectNeverAbsent([rebuilder.filter, other.filter], [...OLD, 'added']);
    };
    expect(await interfered(lose)).toBe('published');
    await expectFound([rebuilder.filter, other.filter], [...NEW, 'added']);
  });

  it('does not go live over metadata that vanished', async () => {
    const reason = await interfered(() => admin.del(`bloom:{${name}}:meta`));
    expect(reason).toBe('staging-damaged');
    await expectNeverAbsent([rebuilder.filter, other.filter], OLD);
  });

  it('fails when the server restarted from a snapshot that has its staging, without the adds since', async () => {
    const server = await RedisFixture.start(['--save', '3600 1']);
    try {
      const first = await server.open('f');
      const second = await server.open('f');
      await runRebuild(rebuildJob(first.filter, sourceOf(OLD)));
      const held = heldSource(NEW);
      const run = runRebuild(rebuildJob(first.filter, held.source)).then(
        ({ outcome }) => outcome,
        ({ reason }: BloomRebuildError) => reason,
      );
      await held.reached;
      await server.client().save();
      await second.filter.add(['added']);
      await server.server.kill('SIGKILL');
      await server.server.restart();
      held.release();
      expect(['staging-damaged', 'store-failed']).toContain(await run);
      await expectNeverAbsent([first.filter, second.filter], [...OLD, 'added']);
    } finally {
      await server.close();
    }
  });
});
