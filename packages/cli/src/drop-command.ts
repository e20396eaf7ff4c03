import { plural, Script } from 'nestjs-bloom/internal';
import { CliError, EXIT } from './cli-error.js';
import {
  inUse,
  NEXT_AFTER_DROP,
  noKeys,
  noneOwned,
  NOT_DROPPED,
  othersStay,
  READ_BY_OTHERS,
  READS_UNKNOWN,
  REBUILT,
  reportedBy,
  UNSEEN,
  WAITING,
} from './cli.messages.js';
import { boardsOf, type FoundKey, isRead, namedKeys, ownedKeys } from './inspection/index.js';
import type { RedisSession } from './redis-session.js';
import type { Terminal } from './terminal.js';
import { bytes } from './texts.js';

export interface DropWords {
  readonly key?: string;
  readonly yes?: boolean;
  readonly force?: boolean;
}

/** Removes keys of one slot at once, so that no lookup and no add finds a part of them. */
const REMOVE = new Script('remove', "return redis.call('UNLINK', unpack(KEYS))");
/** Lua cannot pass many more. */
const KEYS_AT_ONCE = 4000;

/** Names of keys that stay which are shown. */
const SHOWN = 5;

/** Shows the keys of a filter, and deletes them where that was confirmed. */
export async function drop(
  terminal: Terminal,
  { store }: RedisSession,
  name: string,
  { key, yes, force }: DropWords,
): Promise<number> {
  const { connection, keyPrefix } = store.access;
  const filter = { keyPrefix, name, key };
  const [named] = await namedKeys(connection, [filter]);
  if (named!.length === 0) throw new CliError(noKeys(name, keyPrefix, key));
  const metas = named!.filter(({ rest }) => /(^|:)meta$/.test(rest)).map((one) => one.key);
  // What follows reads the metadata.
  const wait = () => terminal.complain(WAITING);
  const isUsed = yes && !force ? await isRead(connection, metas, wait) : false;
  const { keys, others } = await ownedKeys(store.access, filter, named!);
  terminal.print(terminal.styled('bold', name));
  terminal.list([
    ...rowsOf(keys),
    ['stay', others.length > 0 ? othersStay(others.length, others.slice(0, SHOWN)) : undefined],
    ['stays', key === undefined ? undefined : `the key ${key} itself, which other systems may use`],
  ]);
  if (keys.length === 0) throw new CliError(noneOwned(name));
  const reporting = (await boardsOf({ ...store.access, name, key })).flatMap(
    ({ contents }) => contents.instances,
  );
  const uses = [
    reporting.length > 0 && reportedBy(reporting.length),
    keys.some(({ rest }) => /(^|:)lease$/.test(rest)) && REBUILT,
    isUsed && READ_BY_OTHERS,
  ].filter((reason) => typeof reason === 'string');
  if (uses.length > 0 && !force) throw new CliError(inUse(name, uses.join(' and ')));
  terminal.print(UNSEEN);
  if (isUsed === undefined) terminal.complain(READS_UNKNOWN);
  if (!yes) throw new CliError(NOT_DROPPED);
  let dropped = 0;
  for (const some of groupedBy(keys, ({ part }) => part).values()) dropped += await remove(store, some);
  terminal.print(`${plural(dropped, 'key')} deleted. ${NEXT_AFTER_DROP}`);
  return EXIT.fine;
}

function rowsOf(keys: readonly FoundKey[]): [string, string][] {
  const groups = [...groupedBy(keys, (one) => one.what)].sort(([one], [other]) => (one < other ? -1 : 1));
  return groups.map(([what, some]) => {
    const size = some.reduce((sum, one) => sum + one.bytes, 0);
    return [what, `${plural(some.length, 'key')}${size > 0 ? `, ${bytes(size)}` : ''}`];
  });
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

function groupedBy(keys: readonly FoundKey[], groupOf: (one: FoundKey) => string): Map<string, FoundKey[]> {
  const groups = new Map<string, FoundKey[]>();
  for (const one of keys) {
    const group = groups.get(groupOf(one));
    if (group) group.push(one);
    else groups.set(groupOf(one), [one]);
  }
  return groups;
}
