import type { Step } from './action.js';
import { rawCommand } from './commands.js';
import type { GatedInstance, Held } from './gated-instance.js';
import type { ScheduleState } from './schedule-state.js';

/**
 * `reply-lost`: the server does it, the caller never hears. `twice`: the same, and the client sends it again
 * on a new connection. `late`: the caller gives up, and the server does it at some later time.
 */
export function hit(
  schedule: ScheduleState,
  instance: GatedInstance,
  held: Held,
  fault: 'reply-lost' | 'twice' | 'late',
): Step {
  const command = held.command!;
  const ended = new Error('Connection is closed.');
  schedule.gate.working = instance;
  if (fault === 'late') {
    const deliver = () => {
      held.isGhost = true;
      command.reject(ended);
    };
    return { send: [], deliver };
  }
  return {
    send: [rawCommand(command, held.what, schedule.options.breakage)],
    deliver: (replies) => {
      schedule.gate.observe(instance, held, replies[0]!);
      if (!schedule.options.breakage.deafToClose) instance.client.loseConnection();
      if (fault === 'twice') return;
      instance.held.splice(instance.held.indexOf(held), 1);
      command.reject(ended);
    },
  };
}
