import { type BloomEventListener, describeError } from '../../../common/index.js';
import type { AdvisedFilter } from '../../index.js';
import { isRefusal } from '../client/server-replies.js';
import { type Permission, refusedPermissions } from './permissions.js';
import {
  drainTooShort,
  drainTooShortForLeases,
  filterEvictable,
  noAppendOnlyFile,
  noRoomForTwo,
  stagingEvictable,
} from '../meta/meta.messages.js';
import type { RedisKeys } from '../meta/redis-keys.js';
import type { ServerScripts } from '../meta/server-scripts.js';

interface AdviceContext {
  readonly name: string;
  readonly emit: BloomEventListener;
  readonly keys: Pick<RedisKeys, 'probe'>;
  readonly scripts: ServerScripts;
}

/** What in the setup of the server endangers a filter, each with what to do about it. */
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
      ...(await scripts.connection.path.adviseAtStart(name)),
    ];
  } catch (error) {
    emit({ type: 'store-error', filter: name, operation: 'inspect the server', error });
    filter.onIncomplete?.();
    return ofTimes;
  }
}

/** What the server says of itself; nothing when the user may not ask, which the permissions report. */
async function inspected(scripts: ServerScripts, keys: AdviceContext['keys']) {
  try {
    return await scripts.askSetup(keys);
  } catch (error) {
    if (!isRefusal(describeError(error))) throw error;
    return new Map<string, string>();
  }
}

/** A drain of 0 is another matter, which does not depend on the server. */
function drainAdvice({ hasSource, drainMs, leaseMs }: AdvisedFilter, writeTimeoutMs: number): string[] {
  if (!hasSource || drainMs === 0) return [];
  if (drainMs < writeTimeoutMs) return [drainTooShort(drainMs, writeTimeoutMs)];
  // Once for readers of the live generation, once if the script ran before an attempt that was answered.
  const isShort = leaseMs !== undefined && drainMs < writeTimeoutMs + 2 * leaseMs;
  return isShort ? [drainTooShortForLeases(drainMs, writeTimeoutMs, leaseMs)] : [];
}

function memoryAdvice(info: ReadonlyMap<string, string>, bytes: number): string[] {
  const advice: string[] = [];
  const policy = info.get('maxmemory_policy') ?? '';
  const limit = Number(info.get('maxmemory') ?? 0);
  if (limit === 0) return advice;
  if (policy.startsWith('allkeys-')) advice.push(filterEvictable(policy));
  if (policy === 'volatile-ttl' || policy === 'volatile-random') advice.push(stagingEvictable(policy));
  const needed = 2 * bytes;
  if (limit < needed) advice.push(noRoomForTwo(needed, limit));
  return advice;
}

function persistenceAdvice(
  info: ReadonlyMap<string, string>,
  { hasSource, isCreatedAutomatically = false }: AdvisedFilter,
): string[] {
  if (hasSource || info.get('aof_enabled') !== '0') return [];
  return [noAppendOnlyFile(isCreatedAutomatically)];
}
