import { BloomFullError } from 'nestjs-bloom/filter';
import type { BloomUnavailableError } from 'nestjs-bloom/store';
import { unexpectedReplyError } from 'nestjs-bloom/internal';
import { FULL } from './bf.messages.js';

/** What `BF.INFO` says of a filter. */
export interface BfInfo {
  /** Ids that all links hold at their error rates. */
  readonly capacity: number;
  /** Memory of the filter, in bytes. */
  readonly bytes: number;
  /** Links of the chain. */
  readonly links: number;
  /** Ids that were not there before when they were added. */
  readonly items: number;
  /** Undefined for a filter that does not scale. */
  readonly expansion: number | undefined;
}

/** The names that `BF.INFO` replies, as RedisBloom, valkey-bloom and Dragonfly write them. */
const INFO_NAMES = {
  capacity: 'Capacity',
  bytes: 'Size',
  links: 'Number of filters',
  items: 'Number of items inserted',
  expansion: 'Expansion rate',
} as const;

/**
 * The reply of `BF.MEXISTS`: integers or booleans, and text from a client with `stringNumbers`.
 *
 * @param asked how many ids were asked for
 * @throws {BloomUnavailableError} for any other reply: an id that was not answered must not be taken for
 * absent.
 */
export function parseExists(reply: unknown, asked: number): boolean[] {
  if (!Array.isArray(reply) || reply.length !== asked) throw unexpectedReplyError('BF.MEXISTS', reply);
  return reply.map((one: unknown) => flagOf('BF.MEXISTS', one));
}

/**
 * The reply of `BF.INSERT`: for each id, whether it was not there before.
 *
 * @param sent how many ids were to be added
 * @throws {BloomFullError} when a filter that does not scale is full: its reply ends with the error, and the
 * ids from there on
 *   were not added.
 * @throws {BloomUnavailableError} for any other error among the ids, and any other reply.
 */
export function parseInsert(reply: unknown, sent: number): boolean[] {
  if (!Array.isArray(reply)) throw unexpectedReplyError('BF.INSERT', reply);
  const refusal: unknown = reply.find((one) => one instanceof Error);
  if (refusal instanceof Error) throw refusedInsert(refusal);
  if (reply.length !== sent) throw unexpectedReplyError('BF.INSERT', reply);
  return reply.map((one: unknown) => flagOf('BF.INSERT', one));
}

/**
 * The reply of `BF.INFO`: names and values in turn, or a map.
 *
 * @throws {BloomUnavailableError} when a number is missing.
 */
export function parseInfo(reply: unknown): BfInfo {
  const fields = fieldsOf(reply);
  const numberOf = (name: string): number => {
    const value = Number(fields.get(name) ?? NaN);
    if (!Number.isFinite(value)) throw unexpectedReplyError('BF.INFO', reply);
    return value;
  };
  const expansion = fields.get(INFO_NAMES.expansion);
  return {
    capacity: numberOf(INFO_NAMES.capacity),
    bytes: numberOf(INFO_NAMES.bytes),
    links: numberOf(INFO_NAMES.links),
    items: numberOf(INFO_NAMES.items),
    expansion: expansion === null || expansion === undefined ? undefined : Number(expansion),
  };
}

/** Whether an error says that the key holds something else. */
export function isWrongType(error: unknown): boolean {
  return error instanceof Error && error.message.includes('WRONGTYPE');
}

/** Whether an error says that the key holds no such filter. */
export function isGone(error: unknown): boolean {
  return isWrongType(error) || (error instanceof Error && /not found|no such key/i.test(error.message));
}

/** Why `BF.INSERT` has not added an id: the words for a full filter are those of every server. */
function refusedInsert(error: Error): BloomFullError | BloomUnavailableError {
  if (!/filter is full/i.test(error.message)) return unexpectedReplyError('BF.INSERT', error.message);
  return new BloomFullError(FULL, { cause: error });
}

function flagOf(command: string, value: unknown): boolean {
  const text = String(value);
  if (text === '1' || text === 'true') return true;
  if (text === '0' || text === 'false') return false;
  throw unexpectedReplyError(command, value);
}

function fieldsOf(reply: unknown): Map<string, unknown> {
  if (reply instanceof Map) return new Map([...reply].map(([name, value]) => [String(name), value]));
  if (isObject(reply)) return new Map(Object.entries(reply));
  if (!Array.isArray(reply)) throw unexpectedReplyError('BF.INFO', reply);
  const fields = new Map<string, unknown>();
  for (let i = 0; i + 1 < reply.length; i += 2) fields.set(String(reply[i]), reply[i + 1]);
  return fields;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Error);
}
