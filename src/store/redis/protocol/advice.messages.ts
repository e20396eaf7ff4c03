export const drainTooShort = (drainMs: number, writeTimeoutMs: number) =>
  `rebuild.drainMs is ${drainMs}, and an add alone may take writeTimeoutMs, ${writeTimeoutMs}: an id whose add was that slow just before ` +
  'a rebuild is answered "absent" after it. Set drainMs to more than writeTimeoutMs and the longest transaction.';

export const drainTooShortForLeases = (drainMs: number, writeTimeoutMs: number, leaseMs: number) =>
  `rebuild.drainMs is ${drainMs}, and an add may take writeTimeoutMs, ${writeTimeoutMs}, and wait for readers with leases of ${leaseMs}: an id whose add was that ` +
  `slow just before a rebuild is answered "absent" after it. Set drainMs to more than ${writeTimeoutMs + 2 * leaseMs} and the longest transaction.`;

export const filterEvictable = (policy: string) =>
  `Redis may evict the filter (maxmemory-policy ${policy}); lookups would go through until it is rebuilt. Set the policy to ` +
  'noeviction, volatile-lru or volatile-lfu, or give the filters a Redis of their own.';

export const stagingEvictable = (policy: string) =>
  `Redis evicts the lease and the staged keys of a rebuild, which expire, before or like any cache entry (maxmemory-policy ${policy}): ` +
  'when its memory is full, rebuilds fail. Set the policy to noeviction, volatile-lru or volatile-lfu, or give the filters a Redis of ' +
  'their own.';

export const noRoomForTwo = (neededBytes: number, limit: number) =>
  `A rebuild needs room for two generations, ${neededBytes} bytes; maxmemory is ${limit}. Raise it, or the error rate of the filter.`;

const STAYS_UNKNOWN = 'The filter stays unknown until reset() (on a key of other systems: adopt()).';
const IS_RECREATED =
  'While a process runs that knew the filter, it stays unknown until reset() (on a key of other systems: adopt()). When every process has ' +
  'started again as well, nobody can know that there was a filter: it is created again, empty, and answers "absent" for every id added ' +
  "before. Set create: 'explicit' (on a key of other systems, adopt: 'explicit' in its layout), and it stays unknown then too.";

export const noAppendOnlyFile = (isRecreated: boolean) =>
  'The filter has no source to be rebuilt from, and Redis keeps no append-only file: ids added since the last snapshot are gone ' +
  `after a restart. ${isRecreated ? IS_RECREATED : STAYS_UNKNOWN} Set appendonly yes, or give the filter a source.`;

export const commandRefused = (command: string, key: string | undefined, error: string) =>
  `Redis refuses what the filter needs, ${command}${key === undefined ? '' : ` on key '${key}'`}: ${error}. Allow the command and the key ` +
  'for this user (ACL SETUSER).';

export const partsOnOneServer = (filter: string, parts: number) =>
  `Filter '${filter}' is divided into ${parts} partitions, and all of them are on one server: that costs memory and commands, and spreads nothing. Leave ` +
  'partitions out, under another name of the filter, unless the cluster is about to grow.';
