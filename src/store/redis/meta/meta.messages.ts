import { plural, size } from '../../../common/index.js';

export const METADATA_GONE = 'Redis has no metadata of the filter: they were deleted, flushed or evicted.';
export const METADATA_RECREATED = 'The metadata were gone, and are being created again.';
export const FILTER_RECREATED = 'The filter was lost, and created again by a process that did not know it.';
export const SERVER_REPLACED =
  'The server restarted or failed over and may have lost ids that it had acknowledged.';
export const NOBODY_CLAIMED =
  'An older version of nestjs-bloom built it, or an application without an owner: it may lack rows of this application.';
export const SEGMENT_DAMAGED = 'A segment is gone or damaged.';
export const GENERATION_LIVE = 'A generation went live.';
export const STATE_FOUND = 'Another process has already reported this state.';

export const metadataNonsense = (fault: string) =>
  `The metadata of the filter are not valid (${fault}): something else writes to them.`;

export const keepsChanging = (filter: string, operation: string) =>
  `Filter '${filter}' kept changing during ${operation}. Try again; if it happens again, check which processes build the filter.`;

export const formatTooNew = (filter: string, found: string, supported: string) =>
  `Filter '${filter}' is stored in format ${found}, this version knows formats up to ${supported}. Upgrade nestjs-bloom here as on the other ` +
  'instances; until then every lookup goes through.';

export const otherPartitions = (filter: string, partitions: number, found: number) =>
  `Filter '${filter}': expected ${partsText(partitions)} as in the options of this process, found ${partsText(found)} in Redis: each would answer "absent" ` +
  `for ids that the other has taken. The number never changes. ` +
  (found > 0 ? `Set partitions to ${found} here` : 'Leave partitions out here') +
  ', or give the filter another name; a filter of another name is built from the source like any new one. If no process uses the stored filter any more, remove ' +
  'its keys first.';

const partsText = (parts: number) =>
  parts > 0 ? `a filter of ${parts} partitions` : 'a filter without partitions';

export const countsNotBelieved = (key: string) =>
  `BLOOM_COUNTS_CHANGED: The numbers of the last build in ${key} (ids, capacity, errorRate, builtAt) are not those that were written with it. ` +
  'The next rebuild is planned without them. Something else writes to this key; leave it to this library alone.';

export const notCarriedOut = (cause: string) => `Redis did not carry out a command: ${cause}`;

export const BUILT_WITHOUT_SPELLING =
  'An older version of nestjs-bloom built this filter, and did not note how ids are spelled';
export const SPELLED_OTHERWISE =
  'The process that built this filter has another normalize than this one, so the same id has another key there';
export const otherRows = (own: string, found: string) =>
  `This filter holds the ids of ${found}, and the source of this process reads ${own}`;

export const OF_EARLIER_EPOCH =
  'A process with another normalize, or of other rows, has used this filter since this part was built';

export const epochOfOthers = (filter: string) =>
  `Filter '${filter}' is built by processes now that have another normalize, or other rows. Give all processes the same ones.`;

export const unusableHere = (
  difference: string,
  { hasSource, ownsKey }: { readonly hasSource: boolean; readonly ownsKey: boolean },
) =>
  `${difference}. Lookups of this process go through. ` +
  (hasSource
    ? 'The filter is rebuilt; while processes of both kinds run, each rebuild serves one kind only, and further rebuilds wait for pauses of up to 15 minutes.'
    : `Its adds are rejected until it has the same normalize as the others, or ${ownsKey ? 'reset()' : 'adopt()'} is called here.`);

export const notRecordedInOthers = (filter: string, reason: string) =>
  `Filter '${filter}': the id was not recorded. ${reason}`;

interface OwnedFilter {
  readonly name: string;
  readonly key: string;
  readonly hasSource: boolean;
}

export const otherOwner = ({ name, key, hasSource }: OwnedFilter, owner: string, found: string) =>
  `Filter '${name}' at '${key}' belongs to the application '${found}', and this one is '${owner}': each would answer "absent" for the ids of ` +
  'the other. (1) If their rows differ: give the filter another name, or BloomModule another keyPrefix. (2) If they share the same rows: set ' +
  `the same owner in both, BloomModule.forRoot({ owner }). (3) If this application was renamed: set owner to '${found}'` +
  (hasSource ? `, or delete the key '${key}': the filter is then rebuilt from its source.` : '.');

export const ownerNotSet = (key: string, found: string) =>
  `BLOOM_NO_OWNER: The filter at '${key}' belongs to the application '${found}', and this one has no owner: it builds nothing there, and if it has rows ` +
  `that '${found}' does not have, they are answered "absent". Set owner to '${found}' if both share the same rows, else to another name ` +
  'together with another filter name or keyPrefix.';

export const drainTooShort = (drainMs: number, writeTimeoutMs: number) =>
  `BLOOM_DRAIN_TOO_SHORT: rebuild.drainMs is ${drainMs}, and an add alone may take writeTimeoutMs, ${writeTimeoutMs}: an id whose add was that slow just before ` +
  'a rebuild is answered "absent" after it. Set drainMs to more than writeTimeoutMs and the longest transaction.';

export const drainTooShortForLeases = (drainMs: number, writeTimeoutMs: number, leaseMs: number) =>
  `BLOOM_DRAIN_TOO_SHORT: rebuild.drainMs is ${drainMs}, and an add may take writeTimeoutMs, ${writeTimeoutMs}, and wait for readers with leases of ${leaseMs}: an id whose add was that ` +
  `slow just before a rebuild is answered "absent" after it. Set drainMs to more than ${writeTimeoutMs + 2 * leaseMs} and the longest transaction.`;

export const filterEvictable = (policy: string) =>
  `BLOOM_EVICTABLE: Redis may evict the filter (maxmemory-policy ${policy}); lookups would go through until it is rebuilt. Set the policy to ` +
  'noeviction, volatile-lru or volatile-lfu, or give the filters a Redis of their own.';

export const stagingEvictable = (policy: string) =>
  `BLOOM_EVICTABLE: Redis evicts the lease and the new keys of a rebuild, which expire, before or like any cache entry (maxmemory-policy ${policy}): ` +
  'when its memory is full, rebuilds fail. Set the policy to noeviction, volatile-lru or volatile-lfu, or give the filters a Redis of ' +
  'their own.';

export const noRoomForTwo = (neededBytes: number, limit: number) =>
  `BLOOM_MEMORY_TOO_SMALL: A rebuild needs room for two builds, ${size(neededBytes)}; maxmemory is ${size(limit)}. Raise it, or the error rate of the filter.`;

const STAYS_UNKNOWN = 'The filter stays unknown until reset() (on a key of other systems: adopt()).';
const IS_RECREATED =
  'It stays unknown until reset() (on a key of other systems: adopt()). When every process has started again as well, it is created again, empty, and answers "absent" ' +
  "for every id added before. Set create: 'explicit' (on a key of other systems: adopt of its layout), and it stays unknown then too.";

export const noAppendOnlyFile = (isRecreated: boolean) =>
  'BLOOM_NO_APPEND_ONLY_FILE: The filter has no source to be rebuilt from, and Redis keeps no append-only file: ids added since the last snapshot are gone ' +
  `after a restart. ${isRecreated ? IS_RECREATED : STAYS_UNKNOWN} Set appendonly yes, or give the filter a source.`;

export const commandRefused = (command: string, key: string | undefined, error: string) =>
  `BLOOM_COMMAND_REFUSED: Redis refuses what the filter needs, ${command}${key === undefined ? '' : ` on key '${key}'`}: ${error}. Allow it: ` +
  `ACL SETUSER <user> +${command.toLowerCase()}${key === undefined ? '' : ` '~${key.replace(/(\{.*?\}).*/, '$1*')}'`}`;

export const partsOnOneServer = (filter: string, parts: number) =>
  `BLOOM_PARTITIONS_ON_ONE_SERVER: Filter '${filter}' is divided into ${parts} partitions, and all of them are on one server: that costs memory and commands, and spreads nothing. Leave ` +
  'partitions out, under another name of the filter, unless the cluster is about to grow.';

interface MemoryFacts {
  readonly used: number;
  readonly limit: number;
  readonly policy: string;
}

const printedMemory = ({ used, limit }: MemoryFacts) =>
  `used_memory is ${size(used)} of maxmemory ${size(limit)}`;

export const outOfMemory = (what: string, retryAfterMs: number) =>
  `${what} Raise maxmemory, give the filters a Redis of their own, or raise the error rate of the filter. An automatic attempt ` +
  `waits ${Math.round(retryAfterMs / 1000)} seconds.`;

export const stepRefused = (cause: string) =>
  `Redis refused a step of the rebuild, since it is out of memory: ${cause}.`;

export const noRoomForStaging = (neededBytes: number, memory: MemoryFacts) =>
  `Redis has no memory for a second build: it needs ${size(neededBytes)}, ${printedMemory(memory)} (maxmemory-policy ` +
  `${memory.policy}).`;

export const stagingKeysEvicted = (gone: number, staged: number, memory: MemoryFacts) =>
  `${gone} of ${plural(staged, 'key')} of the new build are gone: Redis evicts keys (maxmemory-policy ${memory.policy}), ${printedMemory(memory)}.`;

export const othersNeedMemory = (memory: MemoryFacts) =>
  `Others need the memory of the new build: ${printedMemory(memory)}, and the next writes would be refused.`;
