import type { ScheduleState } from './schedule-state.js';

/**
 * Whether nobody would take a filter that was lost for one that never was: a process that never saw one
 * without a source makes it again.
 */
export function isKnown({ options, instances }: ScheduleState): boolean {
  return options.scenario.hasSource || instances.every((one) => !one.isAlive || one.hasSeenLive);
}
