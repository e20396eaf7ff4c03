import { BloomUnavailableError } from '../common/index.js';

/** The filter is stored in another number of parts than this process was told, or not in parts. Reported by the event `other-partitions`, not lookup by lookup. */
export class OtherPartitionsError extends BloomUnavailableError {}
