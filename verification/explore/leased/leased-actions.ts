import type { Action } from '../action.js';
import { local, type ScheduleState } from '../schedule-state.js';
import type { LeasedTime } from './leased-time.js';

/**
 * What may happen next where processes answer "absent" from their copies. The work is over when nobody has
 * anything left to do.
 */
export function leasedActions(schedule: ScheduleState, time: LeasedTime): Action[] {
  const { gate, fairness, actors } = schedule;
  if (!actors.some((actor) => actor.isWorking)) return [];
  const actions: Action[] = [];
  const step = schedule.taken.length;
  for (const instance of schedule.instances) {
    if (!instance.isAlive) continue;
    instance.held.forEach((held, place) => {
      if (!held.isDue()) return;
      const weight = fairness.weigh(held, { instance, weight: held.weight, step });
      const label = `${instance.name}#${place}`;
      actions.push({ label, weight, isWork: !held.isOfFeed, step: () => gate.letThrough(instance, held) });
    });
    const fire = (callback: () => void) => () =>
      local(() => {
        gate.working = instance;
        callback();
      });
    actions.push(...time.intervalActions(instance, (interval) => fire(() => interval.callback())));
  }
  for (const actor of actors) {
    if (!actor.canStart) continue;
    const weight = fairness.weigh(actor, { instance: actor.instance, weight: 0.3, step });
    const label = `A${actor.index}`;
    actions.push({ label, weight, isWork: true, step: () => schedule.beginActor(actor) });
  }
  actions.push(...time.leaps((ms) => () => local(() => void (schedule.now += ms))));
  // While there is nothing else, time is what everybody waits for.
  return actions.some(({ isWork }) => isWork)
    ? actions
    : actions.map((action) => ({ ...action, isWork: true }));
}
