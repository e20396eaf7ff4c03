import type { BloomEventListener, Clock } from '../common/index.js';
import type { FilterStore } from '../store/index.js';
import type { InstanceIdentity } from './instance-identity.js';

/** What the filters of an application share. */
export interface FilterContext {
  readonly store: FilterStore;
  readonly emit: BloomEventListener;
  readonly clock: Clock;
  /** This process, as others see it; undefined where nobody asks. */
  readonly identity?: InstanceIdentity;
  /** How often this process reports to others; false: never. */
  readonly heartbeat?: { readonly everyMs: number } | false;
}
