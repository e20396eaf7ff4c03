import type { Fault } from './scenario.js';
import type { RawCommand, Reply } from './server-link.js';

/**
 * One thing that happens: commands to the server, and what follows in the processes when they were answered.
 */
export interface Step {
  readonly send: readonly RawCommand[];
  deliver(replies: readonly Reply[]): void;
}

/** A step that the schedule might take next. */
export interface Action {
  /** The same in every run of the same scenario with the same actions before. */
  readonly label: string;
  readonly weight: number;
  /** Whether it is work that the schedule goes on for. */
  readonly isWork: boolean;
  step(): Step;
}

/** What a schedule might do next. */
export interface Choices {
  ordinaryActions(): Action[];
  faultActions(fault: Fault): Action[];
}

/** Decides what happens next; undefined ends the schedule. */
export type Chooser = (choices: Choices) => Action | undefined;
