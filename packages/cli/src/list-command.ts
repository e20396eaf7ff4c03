import { count, plural } from 'nestjs-bloom/internal';
import { EXIT } from './cli-error.js';
import { describeFilter, type FilterSummary } from './filter-summary.js';
import { findFilters, namedKeys, ownedKeys } from './inspection/index.js';
import type { RedisSession } from './redis-session.js';
import type { Terminal } from './terminal.js';
import { bytes } from './texts.js';

export interface ListWords {
  readonly json?: boolean;
}

/** @param keyPrefix of the filters; undefined: any */
export async function list(
  terminal: Terminal,
  { store }: RedisSession,
  keyPrefix: string | undefined,
  { json }: ListWords,
): Promise<number> {
  const { connection } = store.access;
  const names = await findFilters(connection, keyPrefix);
  const named = names.length > 0 ? await namedKeys(connection, names) : [];
  const filters: FilterSummary[] = [];
  for (const [i, name] of names.entries()) {
    const keys = await ownedKeys(store.access, name, named[i]!);
    filters.push(await describeFilter(store.access, name, keys));
  }
  if (json) terminal.json(filters);
  else printFilters(terminal, filters);
  return EXIT.fine;
}

function printFilters(terminal: Terminal, filters: readonly FilterSummary[]): void {
  if (filters.length > 0)
    terminal.table([
      ['prefix', 'filter', 'state', 'ids', 'memory', 'keys', 'owner'],
      ...filters.map(({ keyPrefix, name, key, state, ids, bytes: size, keys, owner }) => [
        key === undefined ? keyPrefix : '',
        key === undefined ? name : `--key ${key}`,
        state,
        ids === undefined ? '' : count(ids),
        bytes(size),
        count(keys),
        owner ?? '',
      ]),
    ]);
  terminal.print(plural(filters.length, 'filter'));
}
