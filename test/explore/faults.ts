import { type Held, type Instance, NEVER_MS } from './instance.js';
import type { Fault } from './scenario.js';
import { rawCommand } from './commands.js';
import type { Action, Step } from './action.js';
import type { Schedule } from './schedule.js';
import type { RawCommand } from './server-link.js';

/** From this length on a timer is that of a lease. */
const LEASE_RENEWAL_MS = NEVER_MS / 3;

/** What a fault of this kind can hit now. */
export function faultActions(schedule: Schedule, fault: Fault): Action[] {
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
  switch (fault) {
    case 'lease-gone':
      return vanish([`${base}:lease`]);
    case 'meta-gone':
      return vanish([`${base}:meta`]);
    case 'segment-gone':
      return vanish(keys.filter((key) => key.startsWith(base) && /^:[0-9]$/.test(key.slice(base.length))));
    case 'staging-gone':
      // Those staged last; earlier ones have become something else. Before they are published nobody misses them.
      if (!schedule.instances.some(({ isAlive, hasPublished }) => isAlive && hasPublished)) return [];
      return vanish(
        keys
          .filter((key) => key.includes(':next:'))
          .toReversed()
          .slice(0, 2),
      );
    case 'all-gone':
      return keys.length === 0 ? [] : [action('', () => send([{ name: 'unlink', args: keys }]))];
    case 'pause':
      return rebuilding(schedule).map((instance) => action(instance.name, () => pause(schedule, instance)));
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
    case 'snapshot':
      return keys.length === 0 ? [] : [action('', () => takeSnapshot(schedule, keys))];
    case 'restart':
      return [action('', () => restart(schedule, keys))];
  }
}

/** Processes that rebuild; all that live when none does. */
function rebuilding({ instances }: Schedule): Instance[] {
  const alive = instances.filter((instance) => instance.isAlive);
  const found = alive.filter(isRebuilding);
  return found.length > 0 ? found : alive;
}

function isRebuilding({ isAlive, intervals }: Instance): boolean {
  return isAlive && intervals.some(({ cleared, ms }) => !cleared && ms >= LEASE_RENEWAL_MS);
}

function commands({ instances }: Schedule): { instance: Instance; held: Held; place: number }[] {
  return instances
    .filter(({ isAlive }) => isAlive)
    .flatMap((instance) => instance.held.map((held, place) => ({ instance, held, place })))
    .filter(({ held }) => held.command && !held.isGhost);
}

/** A process stands still, and its lease runs out. */
function pause({ base }: Schedule, instance: Instance): Step {
  instance.weight = 0.005;
  return send([{ name: 'unlink', args: [`${base}:lease`] }]);
}

function kill(schedule: Schedule, instance: Instance): Step {
  instance.isAlive = false;
  instance.held.length = 0;
  for (const actor of schedule.actorsOf(instance)) actor.die();
  return send([]);
}

/**
 * `reply-lost`: the server does it, the caller never hears. `twice`: the same, and the client sends it again on a new connection.
 * `late`: the caller gives up, and the server does it at some later time.
 */
function hit(
  schedule: Schedule,
  instance: Instance,
  held: Held,
  fault: 'reply-lost' | 'twice' | 'late',
): Step {
  const command = held.command!;
  const ended = new Error('Connection is closed.');
  if (fault === 'late') {
    return send([], () => {
      held.isGhost = true;
      command.reject(ended);
    });
  }
  return send([rawCommand(command, held.what, schedule.options.breakage)], (replies) => {
    schedule.gate.observe(instance, held, replies[0]!);
    if (!schedule.options.breakage.deafToClose) instance.client.loseConnection();
    if (fault === 'twice') return;
    instance.held.splice(instance.held.indexOf(held), 1);
    command.reject(ended);
  });
}

function takeSnapshot(schedule: Schedule, keys: string[]): Step {
  schedule.snapshot = keys;
  for (const key of keys) schedule.keys.add(saved(key));
  return send(keys.map((key) => ({ name: 'eval', args: [SAVE, 2, key, saved(key)] })));
}

const SAVE = `if redis.call('EXISTS', KEYS[1]) == 1 then return redis.call('COPY', KEYS[1], KEYS[2], 'REPLACE') end
return redis.call('DEL', KEYS[2])`;

/** The server starts again from its last snapshot, or empty, or a replica that lagged takes over. */
function restart(schedule: Schedule, keys: string[]): Step {
  const { base, snapshot, options } = schedule;
  const runId = schedule.nextRunId();
  const all: RawCommand[] = [
    { name: 'set', args: [`${base}:server`, runId] },
    ...(keys.length > 0 ? [{ name: 'unlink', args: keys }] : []),
    ...snapshot.map((key) => ({ name: 'copy', args: [saved(key), key] })),
  ];
  return send(all, () => {
    if (options.breakage.deafToClose) return;
    for (const { client } of schedule.instances) client.loseConnection();
  });
}

function saved(key: string): string {
  return `saved:${key}`;
}

function send(commandsToSend: readonly RawCommand[], deliver: Step['deliver'] = () => {}): Step {
  return { send: commandsToSend, deliver };
}
