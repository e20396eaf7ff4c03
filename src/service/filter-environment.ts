import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import type { BloomEventListener } from '../common/index.js';
import type { FilterStore } from '../store/index.js';
import type { FilterClock } from './filter-counts.js';
import type { BloomUnknownBudget } from './lookup-budget.js';

/** The process that reports; an application that starts again is another one. */
export interface InstanceIdentity {
  readonly id: string;
  readonly host: string;
  readonly pid: number;
  readonly startedAt: Date;
}

export function newIdentity(): InstanceIdentity {
  return { id: randomBytes(8).toString('hex'), host: hostname(), pid: process.pid, startedAt: new Date() };
}

/** How often a process reports, and whether it does so without being asked. */
export interface HeartbeatRule {
  readonly everyMs: number;
  readonly isAlways: boolean;
}

/** What the filters of an application share. */
export interface FilterEnvironment {
  readonly store: FilterStore;
  readonly emit: BloomEventListener;
  readonly clock: FilterClock;
  /** This process, as others see it. */
  readonly identity?: InstanceIdentity;
  /** Bounds the calls that a filter cannot judge; undefined: all pass. */
  readonly budget?: BloomUnknownBudget | undefined;
  /** False: this process reports to nobody. */
  readonly heartbeat?: HeartbeatRule | false;
}
