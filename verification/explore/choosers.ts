import type { Random } from '../../test/support/random.js';
import type { Fault } from './scenario.js';
import type { Action, Chooser } from './action.js';

/** Chance at each step, for every fault that is still to come. */
const FAULT_SHARE = 0.04;

const KILLS_REBUILDER: ReadonlySet<Fault> = new Set(['kill', 'announcer-killed', 'announcer-killed-copied']);

/** Chooses at random, as a seed decides, until all work is done. */
export function randomChooser(random: Random, faults: readonly Fault[]): Chooser {
  const left = [...faults];
  return (schedule) => {
    if (left.length > 0 && random.below(1_000) < FAULT_SHARE * 1_000 * left.length) {
      const place = random.below(left.length);
      const actions = schedule.faultActions(left[place]!);
      if (actions.length > 0) {
        // The lease of a process that is gone runs out.
        if (KILLS_REBUILDER.has(left.splice(place, 1)[0]!)) left.push('lease-gone');
        return actions[random.below(actions.length)];
      }
    }
    const actions = schedule.ordinaryActions();
    return actions.some(({ isWork }) => isWork) ? weighted(actions, random) : undefined;
  };
}

/** Time and timers go on in proportion to the work, also while all of that is slow. */
function weighted(actions: readonly Action[], random: Random): Action {
  let work = 0;
  for (const { weight, isWork } of actions) if (isWork) work += weight;
  return pick(
    actions.map((action) =>
      action.isWork ? action : { ...action, weight: action.weight * Math.min(work, 1) },
    ),
    random,
  );
}

function pick(actions: readonly Action[], random: Random): Action {
  let total = 0;
  for (const { weight } of actions) total += weight;
  let at = (random.uint32() / 2 ** 32) * total;
  for (const action of actions) {
    at -= action.weight;
    if (at < 0) return action;
  }
  return actions.at(-1)!;
}

/** Takes the actions of these labels, one after the other, and passes over those that cannot be taken. */
export function replayChooser(labels: readonly string[]): Chooser {
  let next = 0;
  return (schedule) => {
    while (next < labels.length) {
      const label = labels[next++]!;
      const actions = label.startsWith('!')
        ? schedule.faultActions(label.slice(1).split(' ')[0] as Fault)
        : schedule.ordinaryActions();
      const action = actions.find((one) => one.label === label);
      if (action) return action;
    }
    return undefined;
  };
}
