import type { Action, Step } from '../action.js';
import type { GatedInstance } from '../gated-instance.js';
import type { Held } from '../gated-instance.js';
import { hit } from '../hit.js';
import { isKnown } from '../known-filter.js';
import type { LeasedFault } from '../scenario.js';
import { takeSnapshot } from '../snapshot.js';
import { local, type ScheduleState } from '../schedule-state.js';
import type { RawCommand } from '../server-link.js';
import type { LeasedTime } from './leased-time.js';

/** How readily a process goes on that stands still. */
const STOPPED_WEIGHT = 0.05;
/** In leases: for how long a process stands still. */
const STOPPED_LEASES = [0.5, 1.1, 2.5];

const LEASED_FAULTS = {
  'readers-gone': (schedule) => [removing(schedule, 'readers')],
  'feed-gone': (schedule) => [removing(schedule, 'feed')],
  'feed-trimmed': ({ base }) =>
    [0, 1].map((left) => ({
      target: String(left),
      step: () => sent([{ name: 'xtrim', args: [`${base}:feed`, 'MAXLEN', left] }]),
    })),
  'feed-cut': (schedule) =>
    alive(schedule)
      .filter(({ client }) => client.duplicates.length > 0)
      .map((instance) => ({ target: instance.name, step: () => local(() => cutFeed(instance)) })),
  stop: (schedule, time) =>
    stops(schedule, time, (instance) => {
      instance.weight = STOPPED_WEIGHT;
    }),
  suspend: (schedule, time) =>
    stops(schedule, time, (instance, ms) => time.clocks.standStill(instance.index, ms)),
  'wall-clock-back': (schedule, time) =>
    alive(schedule).map((instance) => ({
      target: instance.name,
      step: () => local(() => time.clocks.setWall(instance.index, -2 * time.plan.leaseMs)),
    })),
  'stop-set-back': (schedule, time) =>
    alive(schedule).map((instance) => ({
      target: instance.name,
      step: () =>
        local(() => {
          const { leaseMs } = time.plan;
          instance.weight = STOPPED_WEIGHT;
          schedule.now += 1.1 * leaseMs;
          time.clocks.setWall(instance.index, -0.5 * leaseMs);
        }),
    })),
  'server-clock-forward': (_, time) => [
    { target: '', step: () => local(() => time.clocks.setServerForward()) },
  ],
  'server-clock-back': (_, time) => [{ target: '', step: () => local(() => time.clocks.setServerBack()) }],
  'kill-any': (schedule) =>
    alive(schedule).length < 2
      ? []
      : alive(schedule).map((instance) => ({
          target: instance.name,
          step: () => local(() => kill(schedule, instance)),
        })),
  'restart-empty': (schedule) =>
    isKnown(schedule) ? [{ target: '', step: () => restart(schedule, []) }] : [],
  'restart-trusted': (schedule) => {
    const { oracle, snapshot, writtenAtSnapshot } = schedule;
    // The condition of `trustAfterFailover`: the server has all that it had acknowledged.
    const isWhole = snapshot.length > 0 && oracle.written === writtenAtSnapshot;
    return isWhole ? [{ target: '', step: () => restart(schedule, fromSnapshot(snapshot)) }] : [];
  },
  'snapshot-lacks-add': (schedule) =>
    alive(schedule).flatMap((instance) =>
      instance.held
        .filter(({ what, isGhost, reply }) => what === 'add' && !isGhost && !reply)
        .map((held) => ({ target: instance.name, step: () => snapshotBefore(schedule, instance, held) })),
    ),
  'restart-forgetful': (schedule, { plan }) => {
    const { oracle, ground } = schedule;
    const first = ground.begin().send;
    // The server has all that it had acknowledged.
    if (!plan.isTrusted || first.length === 0 || oracle.written > 0) return [];
    return alive(schedule)
      .filter((instance) => instance.isLeased)
      .map((instance) => ({
        target: instance.name,
        step: () => restart(schedule, first, { deaf: instance, untilMs: schedule.now + plan.leaseMs }),
      }));
  },
  'announcer-killed': killAnnouncer,
  'announcer-killed-copied': (schedule, time) =>
    time.sightings.isCopied ? killAnnouncer(schedule, time) : [],
  'live-gone-announced': (schedule, { sightings: { announcer } }) =>
    announcer
      ? liveKeys(schedule).map((key, i) => ({
          target: String(i),
          step: () => sent([{ name: 'unlink', args: [key] }]),
        }))
      : [],
  'live-gone-copied': (schedule, { sightings }) =>
    sightings.isCopied && sightings.announcer
      ? alive(schedule)
          .filter((instance) => instance !== sightings.announcer && sightings.hasCopied(instance))
          .map((instance) => ({
            target: instance.name,
            step: () => {
              instance.weight = STOPPED_WEIGHT;
              return sent(liveKeys(schedule).map((key) => ({ name: 'unlink', args: [key] })));
            },
          }))
      : [],
  'announcement-late': (schedule) => ofAnnouncement(schedule, 'late'),
  'announcement-lost': (schedule) => ofAnnouncement(schedule, 'reply-lost'),
  'announcement-lost-next': (schedule, { sightings: { counts } }) =>
    counts['rebuilders killed meanwhile'] > 0 ? ofAnnouncement(schedule, 'reply-lost') : [],
} satisfies Record<LeasedFault, (schedule: ScheduleState, time: LeasedTime) => Strike[]>;

interface Strike {
  readonly target: string;
  readonly step: () => Step;
}

export function isLeasedFault(fault: string): fault is LeasedFault {
  return Object.hasOwn(LEASED_FAULTS, fault);
}

/** What a fault of leased copies can hit now. */
export function leasedFaultActions(schedule: ScheduleState, fault: LeasedFault): Action[] {
  const { time } = schedule;
  if (!time) return [];
  return LEASED_FAULTS[fault](schedule, time).map(({ target, step }) => ({
    label: `!${fault} ${target}`,
    weight: 1,
    isWork: false,
    step: () => {
      schedule.note(`!!! ${fault} ${target}`);
      time.wrote();
      return step();
    },
  }));
}

function liveKeys({ keys, ground }: ScheduleState): string[] {
  return [...keys].filter((key) => !key.startsWith('saved:') && ground.isLive(key));
}

function killAnnouncer(schedule: ScheduleState, { sightings: { announcer } }: LeasedTime): Strike[] {
  if (!announcer?.isAlive || alive(schedule).length < 2) return [];
  return [{ target: announcer.name, step: () => local(() => kill(schedule, announcer)) }];
}

function ofAnnouncement(schedule: ScheduleState, fault: 'late' | 'reply-lost'): Strike[] {
  return alive(schedule).flatMap((instance) =>
    instance.held
      .filter(({ what, isGhost, reply }) => what === 'copyAnnounce' && !isGhost && !reply)
      .map((held) => ({ target: instance.name, step: () => hit(schedule, instance, held, fault) })),
  );
}

function alive({ instances }: ScheduleState): GatedInstance[] {
  return instances.filter(({ isAlive }) => isAlive);
}

function removing({ base }: ScheduleState, name: string): Strike {
  return { target: '', step: () => sent([{ name: 'unlink', args: [`${base}:${name}`] }]) };
}

function stops(
  schedule: ScheduleState,
  time: LeasedTime,
  stop: (instance: GatedInstance, ms: number) => void,
): Strike[] {
  return alive(schedule).flatMap((instance) =>
    STOPPED_LEASES.map((leases) => ({
      target: `${instance.name} ${leases}`,
      step: () =>
        local(() => {
          const ms = leases * time.plan.leaseMs;
          stop(instance, ms);
          schedule.now += ms;
        }),
    })),
  );
}

/** What it had asked the feed is lost. */
export function cutFeed({ client, held }: GatedInstance): void {
  for (const feed of client.duplicates) {
    if (feed.status === 'end') continue;
    for (const one of held.filter(({ client: of }) => of === feed)) {
      held.splice(held.indexOf(one), 1);
      one.command?.reject(new Error('Connection is closed.'));
    }
    feed.loseConnection();
  }
}

function kill(schedule: ScheduleState, instance: GatedInstance): void {
  instance.isAlive = false;
  instance.held.length = 0;
  for (const actor of schedule.actorsOf(instance)) actor.die();
}

function snapshotBefore(schedule: ScheduleState, instance: GatedInstance, held: Held): Step {
  const keys = [...schedule.keys].filter((key) => !key.startsWith('saved:'));
  const snapshot = takeSnapshot(schedule, keys);
  const add = hit(schedule, instance, held, 'reply-lost');
  return {
    send: [...snapshot.send, ...add.send],
    deliver: (replies) => {
      add.deliver(replies.slice(snapshot.send.length));
      schedule.writtenAtSnapshot = schedule.oracle.written;
    },
  };
}

function fromSnapshot(keys: readonly string[]): RawCommand[] {
  return keys.map((key) => ({ name: 'copy', args: [`saved:${key}`, key] }));
}

/**
 * Another run of the server answers, with what it has then. Each process hears of it in its own time, before
 * it sends anything.
 */
function restart(
  schedule: ScheduleState,
  loaded: readonly RawCommand[],
  late?: { readonly deaf: GatedInstance; readonly untilMs: number },
): Step {
  const { base, gate, options } = schedule;
  const keys = [...schedule.keys].filter((key) => !key.startsWith('saved:'));
  const commands: RawCommand[] = [
    { name: 'set', args: [`${base}:server`, schedule.nextRunId()] },
    ...(keys.length > 0 ? [{ name: 'unlink', args: keys }] : []),
    ...loaded,
  ];
  return sent(commands, () => {
    if (options.breakage.deafToClose) return;
    for (const instance of alive(schedule)) {
      const { client, held } = instance;
      for (const ended of [client, ...client.duplicates]) {
        instance.cut.add(ended);
        const hear = () => {
          gate.working = instance;
          instance.cut.delete(ended);
          if (ended === client) client.loseConnection();
          else cutFeed(instance);
        };
        const isDue = () => late?.deaf !== instance || schedule.now >= late.untilMs;
        held.push({ what: 'hears that a connection ended', weight: 1, isDue, go: hear });
      }
    }
  });
}

function sent(send: readonly RawCommand[], deliver: () => void = () => {}): Step {
  return { send, deliver };
}
