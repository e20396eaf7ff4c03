import type { Safety } from '../../test/support/broken-lua.js';

/** What an instance under attack is started with. */
export interface AttackedOptions {
  readonly redisUrl: string;
  /** Its number, from 0. */
  readonly number: number;
  readonly instances: number;
  readonly replica: 'verified' | 'leased';
  /** Where the rows are. */
  readonly table: string;
  /** Rows that are there from the beginning. */
  readonly built: number;
  readonly capacity: number;
  readonly errorRate: number;
  readonly drainMs: number;
  readonly without: Safety | undefined;
}

/** What an instance has seen so far. */
export interface AttackSeen {
  /** Lookups of ids that never exist, and how many of them reached the table. */
  readonly asked: number;
  readonly letThrough: number;
  /** Lookups of any id that were `unknown`. */
  readonly unknown: number;
  /** Lookups of any id that were refused, for want of a place in the budget. */
  readonly refused: number;
  /** Lookups that have a place in the budget now, or wait for one. */
  readonly budgeted: number;
  readonly leasesLost: number;
  /** When the last of several lookups in a row began that were let through, by `machineMs`; 0 for none. */
  readonly lastUnprotectedAt: number;
}

/**
 * What an instance has added, when it adds no more: its ids are `addedId(number, 0)` to the last that is in
 * here.
 */
export interface AttackAdded {
  /** By `machineMs`, for each id. */
  readonly acknowledgedAt: readonly number[];
  /**
   * Numbers of those whose rows became visible later than `drainMs` allows: the promise does not hold for
   * them.
   */
  readonly late: readonly number[];
  readonly rejected: number;
}

export interface AttackJudged {
  readonly lookups: number;
  /**
   * For each instance, and each id that it has added: when the last lookup began that was answered "absent",
   * by `machineMs`.
   */
  readonly absentAt: readonly (readonly number[])[];
  /** Ids of the beginning that were answered "absent". */
  readonly absentBuilt: readonly string[];
  readonly callerErrors: number;
  readonly firstError?: string | undefined;
  readonly events: readonly string[];
}

/** What an instance is asked for, and its answers. */
export interface AttackAnswers {
  /** It answers as it will, with `leased` from its copy; and it looks up and adds from here on. */
  begin: null;
  seen: AttackSeen;
  /** How the rebuild ended. */
  rebuild: string;
  /** It looks up and adds no more. */
  end: AttackAdded;
  /** It looks up every id that it owes, of which each instance has added so many. */
  judge: AttackJudged;
}

export interface ToAttacked {
  readonly question: number;
  readonly ask: keyof AttackAnswers;
  readonly added?: readonly number[];
}

export interface FromAttacked {
  readonly question: number;
  readonly answer: AttackAnswers[keyof AttackAnswers];
}

export function builtId(number: number): string {
  return `built-${number}`;
}

export function addedId(instance: number, number: number): string {
  return `added-${instance}-${number}`;
}
