import { type BloomEventListener, describeError } from '../../../common/index.js';
import type { AdvisedFilter } from '../../index.js';
import { isRefusal, type Permission, refusedPermissions } from './permissions.js';
import type { RedisKeys } from './redis-keys.js';
import type { ServerScripts } from './server-scripts.js';

interface AdviceContext {
  readonly name: string;
  readonly emit: BloomEventListener;
  readonly keys: Pick<RedisKeys, 'probe'>;
  readonly scripts: ServerScripts;
}

/** What in the setup of the server endangers a filter that needs these permissions, each with what to do about it. */
export async function adviseOnServer(
  { scripts, keys, emit, name }: AdviceContext,
  filter: AdvisedFilter,
  permissions: readonly Permission[],
): Promise<readonly string[]> {
  const ofTimes = drainAdvice(filter, scripts.writeTimeoutMs);
  try {
    const info = await inspected(scripts, keys);
    return [
      ...ofTimes,
      ...(await refusedPermissions(scripts.connection, permissions)),
      ...memoryAdvice(info, filter.bytes),
      ...persistenceAdvice(info, filter),
      ...(await scripts.connection.path.adviseAtStart()),
    ];
  } catch (error) {
    emit({ type: 'store-error', filter: name, operation: 'inspect the server', error });
    return ofTimes;
  }
}

/** What the server says of itself; nothing when the user may not run a script, or not on this key: the permissions report that. */
async function inspected(scripts: ServerScripts, keys: AdviceContext['keys']) {
  try {
    return await scripts.inspect(keys);
  } catch (error) {
    if (!isRefusal(describeError(error))) throw error;
    return new Map<string, string>();
  }
}

/** A drain of 0 is another matter, which does not depend on the server. */
function drainAdvice({ hasSource, drainMs }: AdvisedFilter, writeTimeoutMs: number): string[] {
  if (!hasSource || drainMs === 0 || drainMs >= writeTimeoutMs) return [];
  return [
    `rebuild.drainMs is ${drainMs}, and an add alone may take writeTimeoutMs, ${writeTimeoutMs}: an id whose add was that slow just before ` +
      'a rebuild is answered "absent" after it. Set drainMs to more than writeTimeoutMs and the longest transaction.',
  ];
}

function memoryAdvice(info: ReadonlyMap<string, string>, bytes: number): string[] {
  const advice: string[] = [];
  const policy = info.get('maxmemory_policy') ?? '';
  const limit = Number(info.get('maxmemory') ?? 0);
  if (limit === 0) return advice;
  if (policy.startsWith('allkeys-')) {
    advice.push(
      `Redis may evict the filter (maxmemory-policy ${policy}); lookups would go through until it is rebuilt. Set the policy to ` +
        'noeviction, volatile-lru or volatile-lfu, or give the filters a Redis of their own.',
    );
  }
  if (policy === 'volatile-ttl' || policy === 'volatile-random') {
    advice.push(
      `Redis evicts the lease and the staged keys of a rebuild, which expire, before or like any cache entry (maxmemory-policy ${policy}): ` +
        'when its memory is full, rebuilds fail. Set the policy to noeviction, volatile-lru or volatile-lfu, or give the filters a Redis of ' +
        'their own.',
    );
  }
  const needed = 2 * bytes;
  if (limit < needed) {
    advice.push(
      `A rebuild needs room for two generations, ${needed} bytes; maxmemory is ${limit}. Raise it, or the error rate of the filter.`,
    );
  }
  return advice;
}

const STAYS_UNKNOWN = 'The filter stays unknown until reset() (on a key of other systems: adopt()).';
const MADE_AGAIN =
  'While a process runs that knew the filter, it stays unknown until reset() (on a key of other systems: adopt()). When every process has ' +
  'started again as well, nobody can know that there was a filter: it is created again, empty, and answers "absent" for every id added ' +
  "before. Set create: 'explicit' (on a key of other systems: layout.adopt: 'explicit'), and it stays unknown then too.";

function persistenceAdvice(
  info: ReadonlyMap<string, string>,
  { hasSource, makesItself = false }: AdvisedFilter,
): string[] {
  if (hasSource || info.get('aof_enabled') !== '0') return [];
  return [
    'The filter has no source to be rebuilt from, and Redis keeps no append-only file: ids added since the last snapshot are gone ' +
      `after a restart. ${makesItself ? MADE_AGAIN : STAYS_UNKNOWN} Set appendonly yes, or give the filter a source.`,
  ];
}
