import type { RedisFilterParts } from './redis-filter-parts.js';

/** What in the set-up of the server endangers a filter, each with what to do about it. */
export async function adviseOnServer(
  { scripts, keys, emit, name }: RedisFilterParts,
  filter: { bytes: number; hasSource: boolean },
): Promise<readonly string[]> {
  try {
    const { forbidden, info } = await scripts.inspect(keys);
    return [
      ...permissionAdvice(forbidden),
      ...memoryAdvice(info, filter.bytes),
      ...persistenceAdvice(info, filter),
    ];
  } catch (error) {
    emit({ type: 'store-error', filter: name, operation: 'inspect the server', error });
    return [];
  }
}

function permissionAdvice(forbidden: readonly string[]): string[] {
  return forbidden.map(
    (refusal) =>
      `Redis refuses a command that the filter needs, ${refusal}. Allow it for this user (ACL SETUSER).`,
  );
}

function memoryAdvice(info: ReadonlyMap<string, string>, bytes: number): string[] {
  const advice: string[] = [];
  const policy = info.get('maxmemory_policy') ?? '';
  const limit = Number(info.get('maxmemory') ?? 0);
  if (limit === 0) return advice;
  if (policy.startsWith('allkeys-')) {
    advice.push(
      `Redis may evict the filter (maxmemory-policy ${policy}); look-ups would go through until it is rebuilt. Set the policy to ` +
        'noeviction or volatile-*, or give the filters a Redis of their own.',
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

function persistenceAdvice(
  info: ReadonlyMap<string, string>,
  { hasSource }: { hasSource: boolean },
): string[] {
  if (hasSource || info.get('aof_enabled') !== '0') return [];
  return [
    'The filter has no source to be rebuilt from, and Redis keeps no append-only file: ids added since the last snapshot are gone ' +
      'after a restart, and the filter stays unknown until reset(). Set appendonly yes, or give the filter a source.',
  ];
}
