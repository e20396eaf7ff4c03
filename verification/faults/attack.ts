import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { ERROR_RATE } from './attack-share.js';
import { AttackedProcess } from './attacked-process.js';
import { addedId, type AttackAnswers, type AttackedOptions, type AttackSeen } from './attacked-protocol.js';
import { machineMs } from './copy-reader-protocol.js';
import type { Judgement } from './fault.js';

export const INSTANCES = 3;
const CAPACITY = 200_000;
/** The adds of a run find room, and the error rate is still nearly that of a full filter. */
const BUILT = 198_000;
/** More than `writeTimeoutMs` and two leases, by their defaults. */
const DRAIN_MS = 5000;
/** Protection is back when it has held for so long, and for so many lookups. */
const STEADY_MS = 300;
const STEADY_LOOKUPS = 20;
const GIVE_UP_MS = 120_000;

/** Three instances of the shop under attack, each in a process of its own. */
export class Attack {
  private readonly instances: readonly AttackedProcess[];

  private constructor(
    private readonly directory: string,
    options: Pick<AttackedOptions, 'redisUrl' | 'replica' | 'without'>,
  ) {
    const shared = { instances: INSTANCES, table: join(directory, 'rows'), built: BUILT };
    const filter = { capacity: CAPACITY, errorRate: ERROR_RATE, drainMs: DRAIN_MS };
    this.instances = Array.from(
      { length: INSTANCES },
      (_, number) => new AttackedProcess({ ...options, ...shared, ...filter, number }),
    );
  }

  static async start(options: Pick<AttackedOptions, 'redisUrl' | 'replica' | 'without'>): Promise<Attack> {
    return new Attack(await mkdtemp(join(tmpdir(), 'nestjs-bloom-attacked-')), options);
  }

  /** Resolves when every instance answers as it will, and is attacked. */
  async begin(): Promise<void> {
    await this.ask('begin');
  }

  /** What the instances see, all together, while something is done. */
  async seenWhile(work: () => Promise<unknown>): Promise<AttackSeen> {
    const before = await this.ask('seen');
    await work();
    const after = await this.ask('seen');
    const grown = (figure: keyof AttackSeen) => sum(after, figure) - sum(before, figure);
    return {
      asked: grown('asked'),
      letThrough: grown('letThrough'),
      unknown: grown('unknown'),
      refused: grown('refused'),
      budgeted: sum(after, 'budgeted'),
      leasesLost: grown('leasesLost'),
      lastUnprotectedAt: Math.max(...after.map(({ lastUnprotectedAt }) => lastUnprotectedAt)),
    };
  }

  /** Lookups that have a place in the budget of an instance, or wait for one. */
  async budgeted(): Promise<number> {
    return sum(await this.ask('seen'), 'budgeted');
  }

  /** Has the first instance rebuild the filter, and resolves to how that ended. */
  rebuild(): Promise<string> {
    return this.instances[0]!.ask('rebuild');
  }

  /** Time from now to the last lookups in a row that were let through; null when there is no end of them. */
  async protectedAfter(): Promise<number | null> {
    const since = machineMs();
    while (machineMs() - since < GIVE_UP_MS) {
      const before = await this.ask('seen');
      await delay(STEADY_MS);
      const after = await this.ask('seen');
      const isSteady = after.every(
        ({ asked, lastUnprotectedAt }, i) =>
          asked - before[i]!.asked >= STEADY_LOOKUPS && lastUnprotectedAt === before[i]!.lastUnprotectedAt,
      );
      const last = Math.max(...after.map(({ lastUnprotectedAt }) => lastUnprotectedAt));
      if (isSteady) return Math.max(0, Math.round(last - since));
    }
    return null;
  }

  /** Ends the attack, has every instance look for every id that it owes, and judges all lookups. */
  async judge(): Promise<
    Pick<Judgement, 'lookups' | 'adds' | 'rejectedAdds' | 'wrongAbsent' | 'callerErrors' | 'remarks'> & {
      readonly lastEvents: readonly string[];
    }
  > {
    const added = await this.ask('end');
    const counts = added.map(({ acknowledgedAt }) => acknowledgedAt.length);
    const judged = await this.ask('judge', counts);
    const wrong = judged.flatMap(({ absentAt, absentBuilt }) => [
      ...absentBuilt,
      ...added.flatMap(({ acknowledgedAt, late }, adder) =>
        acknowledgedAt.flatMap((at, n) =>
          (absentAt[adder]![n] ?? 0) > at && !late.includes(n) ? [addedId(adder, n)] : [],
        ),
      ),
    ]);
    const callerErrors = sum(judged, 'callerErrors');
    const late = added.flatMap((one) => one.late).length;
    const firstError = judged.map((one) => one.firstError).find((error) => error !== undefined);
    return {
      lookups: sum(judged, 'lookups'),
      adds: counts.reduce((total, count) => total + count, 0),
      rejectedAdds: sum(added, 'rejected'),
      wrongAbsent: wrong.length,
      callerErrors,
      remarks: [
        ...(firstError === undefined ? [] : [`error of a caller: ${firstError}`]),
        ...(wrong.length > 0 ? [`wrongly absent: ${[...new Set(wrong)].slice(0, 5).join(', ')}`] : []),
        ...(late > 0 ? [`${late} adds took longer than drainMs`] : []),
      ],
      lastEvents: judged.flatMap(({ events }) => events),
    };
  }

  async stop(): Promise<void> {
    await Promise.all(this.instances.map((instance) => instance.stop()));
    await rm(this.directory, { recursive: true, force: true });
  }

  private ask<Name extends keyof AttackAnswers>(
    question: Name,
    added?: readonly number[],
  ): Promise<AttackAnswers[Name][]> {
    return Promise.all(this.instances.map((instance) => instance.ask(question, added)));
  }
}

function sum<Figure extends string>(all: readonly Record<Figure, number>[], figure: Figure): number {
  return all.reduce((total, one) => total + one[figure], 0);
}
