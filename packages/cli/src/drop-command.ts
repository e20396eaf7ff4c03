import { plural, Script } from 'nestjs-bloom/internal';
import { CliError, EXIT } from './cli-error.js';
import { inUse, NEXT_AFTER_DROP, noKeys, NOT_DROPPED } from './cli.messages.js';
import { boardsOf, type FilterBoard, type FoundKey, keysOf, sizesOf } from './inspection/index.js';
import type { RedisSession } from './redis-session.js';
import type { Terminal } from './terminal.js';
import { bytes, processes } from './texts.js';

export interface DropWords {
  readonly key?: string;
  readonly yes?: boolean;
  readonly force?: boolean;
}

/** Removes keys of one slot at once, so that no lookup and no add finds a part of them. */
const REMOVE = new Script('remove', "return redis.call('UNLINK', unpack(KEYS))");
/** Lua cannot pass many more. */
const KEYS_AT_ONCE = 4000;

/** Shows the keys of a filter, and deletes them where that was confirmed. */
export async function drop(
  terminal: Terminal,
  { store }: RedisSession,
  name: string,
  { key, yes, force }: DropWords,
): Promise<number> {
  const { connection, keyPrefix } = store.access;
  const filter = { keyPrefix, name, key };
  const [found] = await keysOf(connection, [filter]);
  const { keys, others } = found!;
  if (keys.length === 0) throw new CliError(noKeys(name, keyPrefix, key));
  terminal.print(terminal.styled('bold', name));
  const rows: [string, string][] = [];
  const byPurpose = [...groupedBy(keys, (one) => one.what)].sort(([one], [other]) => (one < other ? -1 : 1));
  for (const [what, some] of byPurpose) {
    const { bytes: size } = await sizesOf(connection, some);
    rows.push([what, `${plural(some.length, 'key')}${size > 0 ? `, ${bytes(size)}` : ''}`]);
  }
  if (others > 0) rows.push(['of other names', `${plural(others, 'key')}, which stay`]);
  if (key !== undefined) rows.push(['stays', `the key ${key} itself, which other systems may use`]);
  terminal.list(rows);
  const reasons = usesOf(await boardsOf({ ...store.access, name, key }));
  if (reasons.length > 0 && !force) throw new CliError(inUse(name, reasons.join(' and ')));
  if (!yes) throw new CliError(NOT_DROPPED);
  let dropped = 0;
  for (const some of groupedBy(keys, ({ part }) => part).values()) dropped += await remove(store, some);
  terminal.print(`${plural(dropped, 'key')} deleted. ${NEXT_AFTER_DROP}`);
  return EXIT.fine;
}

/** The metadata first: without them the other keys are of no use. */
async function remove({ access }: RedisSession['store'], keys: readonly FoundKey[]): Promise<number> {
  const names = [true, false].flatMap((isFirst) =>
    keys.filter(({ what }) => (what === 'metadata') === isFirst).map(({ key }) => key),
  );
  let removed = 0;
  for (let at = 0; at < names.length; at += KEYS_AT_ONCE)
    removed += Number(await access.connection.run(REMOVE, names.slice(at, at + KEYS_AT_ONCE), []));
  return removed;
}

function usesOf(boards: readonly FilterBoard[]): string[] {
  const reporting = boards.reduce((sum, { contents }) => sum + contents.instances.length, 0);
  return [
    reporting > 0 && `${processes(reporting)} reported on it within the last seconds`,
    boards.some(({ isRebuilding }) => isRebuilding) && 'a process rebuilds it',
  ].filter((reason) => reason !== false);
}

function groupedBy(keys: readonly FoundKey[], groupOf: (one: FoundKey) => string): Map<string, FoundKey[]> {
  const groups = new Map<string, FoundKey[]>();
  for (const one of keys) {
    const group = groups.get(groupOf(one));
    if (group) group.push(one);
    else groups.set(groupOf(one), [one]);
  }
  return groups;
}
