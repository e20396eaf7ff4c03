import type { Step } from './action.js';
import type { ScheduleState } from './schedule-state.js';

const SAVE = `if redis.call('EXISTS', KEYS[1]) == 1 then return redis.call('COPY', KEYS[1], KEYS[2], 'REPLACE') end
return redis.call('DEL', KEYS[2])`;

/** Keeps what the server holds now. */
export function takeSnapshot(schedule: ScheduleState, keys: string[]): Step {
  schedule.snapshot = keys;
  schedule.writtenAtSnapshot = schedule.oracle.written;
  for (const key of keys) schedule.keys.add(saved(key));
  return {
    send: keys.map((key) => ({ name: 'eval', args: [SAVE, 2, key, saved(key)] })),
    deliver() {},
  };
}

export function saved(key: string): string {
  return `saved:${key}`;
}
