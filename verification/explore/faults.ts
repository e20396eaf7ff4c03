import { type Held, type GatedInstance, NEVER_MS } from './gated-instance.js';
import type { Fault } from './scenario.js';
import { isSwap } from './commands.js';
import type { Action, Step } from './action.js';
import { isKnown } from './known-filter.js';
import { hit } from './hit.js';
import { cutFeed, isLeasedFault, leasedFaultActions } from './leased/leased-faults.js';
import type { ScheduleState } from './schedule-state.js';
import type { RawCommand } from './server-link.js';
import { saved, takeSnapshot } from './snapshot.js';

/** From this length on a timer is that of a lease. */
const LEASE_RENEWAL_MS = NEVER_MS / 3;

/** What a fault of this kind can hit now. */
export function faultActions(schedule: ScheduleState, fault: Fault): Action[] {
  if (isLeasedFault(fault)) return leasedFaultActions(schedule, fault);
  const action = (target: string | number, step: () => Step): Action => ({
    label: `!${fault} ${target}`,
    weight: 1,
    isWork: false,
    step: () => {
      schedule.note(`!!! ${fault} ${target}`);
      return step();
    },
  });
  const vanish = (keys: readonly string[]) =>
    keys.map((key, i) => action(i, () => send([{ name: 'unlink', args: [key] }])));
  const { base } = schedule;
  const keys = [...schedule.keys].filter((key) => !key.startsWith('saved:'));
  const about = (isStep: (what: string) => boolean) =>
    schedule.instances.filter(({ isAlive, held }) => isAlive && held.some(({ what }) => isStep(what)));
  const live = keys.filter((key) => schedule.ground.isLive(key));
  const { hasSource } = schedule.options.scenario;
  const isFound = isKnown(schedule);
  // Nobody could tell one, which was lost before it was seen, from a whole one.
  const isSeen = hasSource || schedule.instances.some(({ hasSeenLive }) => hasSeenLive);
  switch (fault) {
    case 'lease-gone':
      return vanish([`${base}:lease`]);
    case 'meta-gone':
      return isFound ? vanish([`${base}:meta`]) : [];
    case 'live-gone':
      return isSeen ? vanish(live) : [];
    case 'live-zeros':
      return isSeen ? live.map((key, i) => action(i, () => send([run(ZEROS, key)]))) : [];
    case 'live-cut':
      return isSeen ? live.map((key, i) => action(i, () => send([run(CUT_EIGHTH, key)]))) : [];
    case 'live-cut-byte':
      // An add of a peer in the last byte would make the string as long as it was, and no canary is there
      // when bits do not fill that byte.
      return isSeen && !schedule.hasPeerAddsLeft
        ? live.map((key, i) => action(i, () => send([run(CUT_BYTE, key)])))
        : [];
    case 'settings-other': {
      const { otherSettings } = schedule.ground;
      return isSeen && otherSettings ? [action('', () => send(otherSettings))] : [];
    }
    case 'copy-live':
      return live
        .filter((key) => !key.endsWith(':config'))
        .map((key, i) => action(i, () => copyLive(schedule, key)));
    case 'put-back': {
      const { key, isMissed } = schedule.olderCopy;
      return key !== undefined && isMissed
        ? [action('', () => send([{ name: 'copy', args: [older(key), key, 'REPLACE'] }]))]
        : [];
    }
    case 'staging-gone':
      // Those staged last; earlier ones have become something else. Before they are published nobody misses
      // them.
      if (!schedule.instances.some(({ isAlive, hasPublished }) => isAlive && hasPublished)) return [];
      return vanish(
        keys
          .filter((key) => schedule.ground.isStaged(key))
          .toReversed()
          .slice(0, 2),
      );
    case 'all-gone':
      return keys.length === 0 || !isFound ? [] : [action('', () => send([{ name: 'unlink', args: keys }]))];
    case 'pause':
      return rebuilding(schedule).map((instance) => action(instance.name, () => pause(schedule, instance)));
    case 'pause-before-swap':
      return about(isSwap).map((instance) => action(instance.name, () => pause(schedule, instance)));
    case 'pause-before-grow':
      return about((what) => what === 'growingGrow').map((instance) =>
        action(instance.name, () => pause(schedule, instance)),
      );
    case 'kill':
      return schedule.instances.filter((instance) => instance.isAlive).length < 2
        ? []
        : rebuilding(schedule).map((instance) => action(instance.name, () => kill(schedule, instance)));
    case 'reply-lost':
    case 'twice':
    case 'late':
      return commands(schedule).map(({ instance, held, place }) =>
        action(`${instance.name}#${place}`, () => hit(schedule, instance, held, fault)),
      );
    case 'late-swap':
      return commands(schedule)
        .filter(({ held }) => isSwap(held.what))
        .map(({ instance, held, place }) =>
          action(`${instance.name}#${place}`, () => delayPastAdd(schedule, instance, held)),
        );
    case 'snapshot':
      return keys.length === 0 ? [] : [action('', () => takeSnapshot(schedule, keys))];
    case 'restart':
      return isFound ? [action('', () => restart(schedule, keys))] : [];
  }
}

/** Processes that rebuild; all that live when none does. */
function rebuilding({ instances }: ScheduleState): GatedInstance[] {
  const alive = instances.filter((instance) => instance.isAlive);
  const found = alive.filter(isRebuilding);
  return found.length > 0 ? found : alive;
}

function isRebuilding({ isAlive, intervals }: GatedInstance): boolean {
  return isAlive && intervals.some(({ cleared, ms }) => !cleared && ms >= LEASE_RENEWAL_MS);
}

function commands({
  instances,
  options,
}: ScheduleState): { instance: GatedInstance; held: Held; place: number }[] {
  const { hasSource } = options.scenario;
  return (
    instances
      .filter(({ isAlive }) => isAlive)
      .flatMap((instance) => instance.held.map((held, place) => ({ instance, held, place })))
      .filter(({ held }) => held.command && !held.isGhost && !held.isOfFeed && !held.reply)
      // A lease of which nobody knows would never end here, and without a source an add waits for it.
      .filter(({ held }) => hasSource || held.what !== 'acquire')
  );
}

/** A process stands still, and its lease runs out. */
function pause({ base }: ScheduleState, instance: GatedInstance): Step {
  instance.weight = 0.005;
  return send([{ name: 'unlink', args: [`${base}:lease`] }]);
}

function kill(schedule: ScheduleState, instance: GatedInstance): Step {
  instance.isAlive = false;
  instance.held.length = 0;
  for (const actor of schedule.actorsOf(instance)) actor.die();
  return send([]);
}

/**
 * Its caller gives a swap up and withdraws the staging, and an add is recorded: then the server gets the
 * swap.
 */
function delayPastAdd(schedule: ScheduleState, instance: GatedInstance, held: Held): Step {
  const { oracle } = schedule;
  instance.hasLateSwap = true;
  held.isDue = () => !instance.hasPublished && oracle.adds > instance.addsAtWithdrawal;
  return hit(schedule, instance, held, 'late');
}

const ZEROS = `local length = redis.call('STRLEN', KEYS[1])
if length > 0 then redis.call('SET', KEYS[1], string.rep('\\0', length)) end`;

/** The string of KEYS[1] keeps only its first bytes. */
function cutTo(kept: string): string {
  return `local length = redis.call('STRLEN', KEYS[1])
if length > 8 then redis.call('SET', KEYS[1], redis.call('GETRANGE', KEYS[1], 0, ${kept} - 1)) end`;
}

const CUT_EIGHTH = cutTo('math.floor(length * 7 / 8)');
const CUT_BYTE = cutTo('(length - 1)');

function run(script: string, key: string): RawCommand {
  return { name: 'eval', args: [script, 1, key] };
}

/** A peer reads the string, and may write it back later. */
function copyLive(schedule: ScheduleState, key: string): Step {
  schedule.keys.add(older(key));
  return send([{ name: 'copy', args: [key, older(key), 'REPLACE'] }], (replies) => {
    const [reply] = replies;
    if (reply && 'value' in reply && reply.value === 1) schedule.olderCopy.take(key);
  });
}

function older(key: string): string {
  return saved(`older:${key}`);
}

/** The server starts again from its last snapshot, or empty, or a replica that lagged takes over. */
function restart(schedule: ScheduleState, keys: string[]): Step {
  const { base, snapshot, options } = schedule;
  const runId = schedule.nextRunId();
  const all: RawCommand[] = [
    { name: 'set', args: [`${base}:server`, runId] },
    ...(keys.length > 0 ? [{ name: 'unlink', args: keys }] : []),
    ...snapshot.map((key) => ({ name: 'copy', args: [saved(key), key] })),
  ];
  return send(all, () => {
    schedule.olderCopy.forget();
    if (options.breakage.deafToClose) return;
    for (const instance of schedule.instances) {
      instance.client.loseConnection();
      cutFeed(instance);
    }
  });
}

function send(commandsToSend: readonly RawCommand[], deliver: Step['deliver'] = () => {}): Step {
  return { send: commandsToSend, deliver };
}
