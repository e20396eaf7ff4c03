import type { RedisConnection } from '../client/redis-connection.js';
import { defineScripts, ScriptKeys } from '../client/script.js';
import { isRefusal, isUnknownCommand } from '../client/server-replies.js';
import { coreLua } from '../lua/core.generated.js';
import { commandRefused } from '../meta/meta.messages.js';

/** A command that a filter needs, in a form that changes nothing. */
export interface Permission {
  readonly command: string;
  readonly key?: string;
  readonly args?: readonly (string | { readonly key: string })[];
  /** Whether the filter does without it on a server that has no such command. */
  readonly isOptional?: boolean;
}

const { permission: SCRIPT } = defineScripts(coreLua, ['permission']);

/** What a filter of any kind needs for metadata and lease. */
export function metadataPermissions(probe: string): Permission[] {
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

/** What a filter needs whose blocks are in segments. */
export function segmentPermissions(probe: string, segment: string): Permission[] {
  return [
    { command: 'HINCRBY', key: probe, args: ['field', 'no number'] },
    { command: 'GETRANGE', key: segment, args: ['0', '0'] },
    // Nothing is written.
    { command: 'SETRANGE', key: segment, args: ['0', ''] },
    { command: 'STRLEN', key: segment },
    { command: 'PERSIST', key: segment },
    { command: 'BITOP', args: ['OR', { key: segment }, { key: segment }] },
    ...createdAndRemoved('APPEND', segment),
  ];
}

/** A command that makes a key, which is removed again; it expires where that is refused. */
export function createdAndRemoved(command: string, key: string): Permission[] {
  return [
    { command, key, args: ['probe'] },
    { command: 'PEXPIRE', key, args: ['1000'] },
    { command: 'DEL', key },
  ];
}

/** What the server refuses to this user, and what to do about it. */
export async function refusedPermissions(
  connection: RedisConnection,
  permissions: readonly Permission[],
): Promise<string[]> {
  const keys = [...new Set(permissions.map(({ key }) => key))];
  const refusals: string[] = [];
  for (const key of keys) {
    const onKey = permissions.filter((one) => one.key === key);
    const errors = await errorsOf(connection, onKey).catch((error: unknown) => {
      // A script of which one key is refused does not run at all.
      if (!isRefusal(String(error))) throw error;
      return onKey.map((_, i) => (i === 0 ? String(error) : ''));
    });
    onKey.forEach(({ command, isOptional }, i) => {
      const error = errors[i]!;
      if (isRefusal(error) && !(isOptional && isUnknownCommand(error)))
        refusals.push(commandRefused(command, key && connection.keyPrefix + key, error));
    });
  }
  return [...new Set(refusals)];
}

/** For each command, the error that it gave; '' when there was none. */
async function errorsOf(connection: RedisConnection, permissions: readonly Permission[]): Promise<string[]> {
  const table = new ScriptKeys();
  const words = permissions.flatMap(({ command, key, args = [] }) => {
    const rest = key === undefined ? args : [{ key }, ...args];
    const texts = rest.map((one) => (typeof one === 'string' ? `a${one}` : `k${table.indexOf(one.key)}`));
    return [1 + rest.length, `a${command}`, ...texts];
  });
  return ((await connection.run(SCRIPT, table.keys, words)) as unknown[]).map(String);
}
