import { within } from './ambient.js';
import type { Step } from './action.js';
import type { Schedule } from './schedule.js';
import type { ServerLink } from './server-link.js';

/** Schedules that run side by side, so that they share round trips. They have no key in common. */
const WIDTH = 48;

/**
 * Runs schedules side by side, each a step in a round.
 *
 * @param next the next schedule to start; undefined when there is no more.
 */
export async function runInLockstep(
  link: ServerLink,
  next: () => Schedule | undefined,
  onEnd: (schedule: Schedule) => void,
): Promise<void> {
  const running = new Set<Schedule>();
  for (let isMore = true; isMore || running.size > 0;) {
    while (isMore && running.size < WIDTH) {
      const schedule = next();
      if (schedule) {
        await schedule.open();
        running.add(schedule);
      } else isMore = false;
    }
    const round: { schedule: Schedule; step: Step }[] = [];
    for (const schedule of running) {
      const step = await nextToSend(schedule);
      if (step) {
        round.push({ schedule, step });
      } else {
        running.delete(schedule);
        onEnd(schedule);
      }
    }
    const replies = await link.send(round.flatMap(({ step }) => step.send));
    let at = 0;
    for (const { schedule, step } of round) {
      const own = replies.slice(at, (at += step.send.length));
      await within(schedule, () => step.deliver(own));
    }
  }
}

/** Takes steps that need no server at once. */
async function nextToSend(schedule: Schedule): Promise<Step | undefined> {
  for (;;) {
    const step = schedule.next();
    if (!step || step.send.length > 0) return step;
    await within(schedule, () => step.deliver([]));
  }
}
