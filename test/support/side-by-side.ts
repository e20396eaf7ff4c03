import { it } from '@jest/globals';

/** What they wait for passes together, and each still has its turns of one process. */
const AT_A_TIME = 5;

/**
 * Gives an `it` for tests that wait more than they compute, on names or servers of their own. All of them run
 * within the first one, some at a time, and each reports itself. Jest's `it.concurrent` would refuse each
 * `import()` that comes while no test begins or ends.
 */
export function sideBySide(): (name: string, run: () => Promise<unknown>) => void {
  const runs: (() => Promise<unknown>)[] = [];
  let outcomes: Promise<readonly PromiseSettledResult<unknown>[]> | undefined;
  return (name, run) => {
    const place = runs.push(run) - 1;
    it(name, async () => {
      outcomes ??= settle(runs);
      const outcome = (await outcomes)[place]!;
      if (outcome.status === 'rejected') throw outcome.reason;
    });
  };
}

async function settle(
  runs: readonly (() => Promise<unknown>)[],
): Promise<readonly PromiseSettledResult<unknown>[]> {
  const outcomes: PromiseSettledResult<unknown>[] = [];
  const waiting = runs.entries();
  const work = async () => {
    for (const [place, run] of waiting) {
      outcomes[place] = await run().then(
        (value): PromiseFulfilledResult<unknown> => ({ status: 'fulfilled', value }),
        (reason: unknown): PromiseRejectedResult => ({ status: 'rejected', reason }),
      );
    }
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, work));
  return outcomes;
}
