import type { RedisConnection } from '../client/redis-connection.js';
import { defineScripts } from '../client/script.js';
import { coreLua } from '../lua/core.generated.js';
import { ScriptKeys } from '../client/script-keys.js';

/** A command that a filter needs, in a form that changes nothing: its name, its first key if it has one, and the rest. */
export interface CommandTry {
  readonly command: string;
  readonly key?: string;
  readonly args?: readonly (string | { readonly key: string })[];
}

const { permission: SCRIPT } = defineScripts(coreLua, ['permission']);

/** What each driver needs for metadata and lease. */
export function triesOfMetadata(probe: string): CommandTry[] {
  return [
    { command: 'INFO', args: ['server'] },
    { command: 'TIME' },
    ...['TYPE', 'GET', 'HGETALL', 'UNLINK', 'DEL', 'TOUCH', 'PTTL'].map((command) => ({
      command,
      key: probe,
    })),
    ...['HGET', 'HMGET', 'HDEL'].map((command) => ({ command, key: probe, args: ['field'] })),
    { command: 'SET', key: probe, args: ['', 'XX'] },
    { command: 'PEXPIRE', key: probe, args: ['1'] },
    // A field without a value.
    { command: 'HSET', key: probe, args: ['field', 'value', 'other'] },
  ];
}

/** What the server refuses to this user, and what to do about it. */
export async function refusedCommands(
  connection: RedisConnection,
  tries: readonly CommandTry[],
): Promise<string[]> {
  const keys = [...new Set(tries.map(({ key }) => key))];
  const told: string[] = [];
  for (const key of keys) {
    const onKey = tries.filter((one) => one.key === key);
    const errors = await errorsOf(connection, onKey).catch((error: unknown) => {
      // A script of which one key is refused does not run at all.
      if (!isRefusal(String(error))) throw error;
      return onKey.map((_, i) => (i === 0 ? String(error) : ''));
    });
    onKey.forEach(({ command }, i) => {
      if (isRefusal(errors[i]!)) told.push(adviceOn(command, key, errors[i]!));
    });
  }
  return told;
}

/** Whether an error says that the user may not do it, or that the server has no such command. */
export function isRefusal(error: string): boolean {
  return /NOPERM|no permissions|can't (run|access)|unknown.*command/i.test(error);
}

function adviceOn(command: string, key: string | undefined, error: string): string {
  const place = key === undefined ? '' : ` on key '${key}'`;
  return `Redis refuses what the filter needs, ${command}${place}: ${error}. Allow the command and the key for this user (ACL SETUSER).`;
}

/** For each command, the error that it gave; '' when there was none. */
async function errorsOf(connection: RedisConnection, tries: readonly CommandTry[]): Promise<string[]> {
  const table = new ScriptKeys();
  const words = tries.flatMap(({ command, key, args = [] }) => {
    const rest = key === undefined ? args : [{ key }, ...args];
    const texts = rest.map((one) => (typeof one === 'string' ? `a${one}` : `k${table.indexOf(one.key)}`));
    return [1 + rest.length, `a${command}`, ...texts];
  });
  return ((await connection.run(SCRIPT, table.keys, words)) as unknown[]).map(String);
}
