import type { Command } from 'ioredis';
import type { Breakage } from './broken-store.js';
import type { RawCommand, Reply } from './server-link.js';
import { sha1, type SimulatedServer } from './simulated-server.js';

/** Segments that a filter here may have; `offline` names every one there could ever be. */
const MAX_SEGMENTS = 4;
/** Place of the argument of `bitmapSwap` that says so, from the first key on. */
const SAME_PLACES = 2 + 7;

/** Name of the script that a command runs. */
export function scriptOf(command: Command, server: SimulatedServer): string | undefined {
  if (!command.name.startsWith('eval')) return undefined;
  const text = String(command.args[0]);
  return server.nameOf(command.name === 'eval' ? sha1(text) : text);
}

/** The keys that a command names. */
export function keysOf(command: Command): string[] {
  const { name, args } = command;
  if (name === 'xread') return streamsOf(args).map(String);
  if (name === 'CLIENT') return [];
  if (!name.startsWith('eval')) return [String(args[0])];
  const count = Number(args[1]);
  // `offline` names every segment there might be; those there are have been named before.
  return count > 1_000 ? [String(args[2])] : args.slice(2, 2 + count).map(String);
}

/** The names of the streams that are read; as many ids follow them. */
function streamsOf(args: Command['args']): Command['args'] {
  const first = args.findIndex((arg) => String(arg).toUpperCase() === 'STREAMS') + 1;
  return args.slice(first, first + (args.length - first) / 2);
}

/** The gate says how long a read waits. */
function withoutBlocking(args: (string | Buffer)[]): (string | Buffer)[] {
  const at = args.findIndex((arg) => String(arg).toUpperCase() === 'BLOCK');
  return at < 0 ? args : [...args.slice(0, at), ...args.slice(at + 2)];
}

/** The command as it goes to the server. */
export function rawCommand(command: Command, what: string, breakage: Breakage): RawCommand {
  const args = command.args as (string | Buffer)[];
  if (what === 'second half of swap') {
    return { name: 'eval', args: [breakage.secondHalfOfSwap!, ...args.slice(1)] };
  }
  if (what === 'xread') return { name: command.name, args: withoutBlocking(args) };
  if (what !== 'offline') return { name: command.name, args };
  return { name: command.name, args: shortened(args) };
}

/**
 * 8,193 keys are what an unknown filter may have; it is no filter of this harness, and they would take half
 * of its time.
 */
function shortened(args: (string | Buffer)[]): (string | number | Buffer)[] {
  const [script, count, meta, denials, ...rest] = args;
  const segments = (Number(count) - 2) / 2;
  if (segments <= MAX_SEGMENTS) return args;
  const live = rest.slice(0, MAX_SEGMENTS);
  const retired = rest.slice(segments, segments + MAX_SEGMENTS);
  return [script!, 2 + 2 * MAX_SEGMENTS, meta!, denials!, ...live, ...retired, ...rest.slice(2 * segments)];
}

/** For people. */
export function describeReply(command: Command, what: string, reply: Reply): string {
  if ('error' in reply) return `→ ${reply.error.message}`;
  const { value } = reply;
  if (what === 'xread') return `→ ${value === null ? 'nothing' : describeNested(value)}`;
  if (what === 'evalsha') return '';
  if (what === 'describe') return `→ ${describeMeta(value as Buffer[])}`;
  if (what === 'getrange' || what === 'check') return `→ ${(value as Buffer).length} bytes`;
  if (what === 'unlink') return `${String(command.args[0])} → ${String(value)}`;
  return `→ ${Array.isArray(value) ? `[${value.map(String).join(', ')}]` : String(value)}`;
}

/** Whether a script puts a staged generation in the place of the live one. */
export function isSwap(what: string): boolean {
  return what === 'swap' || what === 'bitmapSwap' || what === 'growingSwap';
}

/** Whether a script has done what it is for; some say more than that. */
export function isDone(reply: unknown): boolean {
  return firstWord(reply) === 'OK';
}

/** Whether a swap is to be sent again later. */
export function isEarly(reply: unknown): boolean {
  return firstWord(reply) === 'EARLY';
}

function firstWord(reply: unknown): string {
  return String(Array.isArray(reply) ? reply[0] : reply);
}

/** Whether a swap brings a string to life whose bits are elsewhere than those of the live one. */
export function changesSize({ args }: Command, what: string): boolean {
  return what === 'bitmapSwap' && String(args[Number(args[1]) + SAME_PLACES]) !== '1';
}

/** Whether the reply of the script `describe` names a live generation. */
export function isReady(reply: unknown): boolean {
  const words = (reply as readonly Buffer[]).map(String);
  return words.includes('token') || words.includes('tag');
}

function describeNested(value: unknown): string {
  return Array.isArray(value) ? `[${value.map(describeNested).join(', ')}]` : JSON.stringify(String(value));
}

function describeMeta(reply: readonly Buffer[]): string {
  const words = reply.map(String);
  const field = (name: string) => words[words.indexOf(name) + 1];
  const shown = ['state', 'tag', 'pending.tag', 'token', 'pending.token'].filter((name) =>
    words.includes(name),
  );
  return shown.length === 0 ? 'missing' : shown.map((name) => `${name} ${field(name)}`).join(', ');
}
