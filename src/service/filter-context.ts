import type { BloomEventListener, Clock } from '../common/index.js';
import type { FilterStore } from '../store/index.js';
import type { InstanceIdentity } from './instance-identity.js';

/** How often a process reports, and whether it does so where nobody has asked for it. */
export interface HeartbeatRule {
  readonly everyMs: number;
  readonly isAlways: boolean;
}

/** What the filters of an application share. */
export interface FilterContext {
  readonly store: FilterStore;
  readonly emit: BloomEventListener;
  readonly clock: Clock;
  /** This process, as others see it; undefined where nobody asks. */
  readonly identity?: InstanceIdentity;
  /** False: this process reports to nobody. */
  readonly heartbeat?: HeartbeatRule | false;
}
