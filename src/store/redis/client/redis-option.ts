import type { Cluster, Redis, RedisOptions } from 'ioredis';
import { BloomConfigError, nearestName, NOT_SET, printed } from '../../../common/index.js';
import type { RedisClient } from '../../index.js';
import { noSuchRedisOption, wrongRedis, wrongRedisPart, wrongRedisUrl } from './client.messages.js';
import { assertUsable, createIoredis, IoredisClient } from './ioredis-client.js';

/** A client of another library than ioredis, as `fromNodeRedis(client)` gives it. */
export interface BloomRedisClient {
  /** Gives a `RedisClient` of `nestjs-bloom/store`. An add waits for so many milliseconds at most. */
  openClient(writeTimeoutMs: number): object;
}

/** A URL, ioredis options, or a client of yours (which stays yours to close). */
export type BloomRedis = string | RedisOptions | Redis | Cluster | BloomRedisClient;

/** Options that say where Redis is. Without them ioredis connects to localhost. */
const ADDRESS = ['host', 'path', 'sentinels'] as const satisfies readonly (keyof RedisOptions)[];
/** Options of which a misspelt one would lead to another server, database or user. */
const SPELLED: readonly (keyof RedisOptions)[] = [...ADDRESS, 'port', 'db', 'username', 'password', 'tls'];

/** Options of node-redis and of a Cluster, and what they are here. */
const FOREIGN: Readonly<Record<string, string>> = {
  url: "Give the URL itself: redis: 'redis://…'.",
  uri: "Give the URL itself: redis: 'redis://…'.",
  socket: 'Write host and port beside it, as ioredis has them: redis: { host, port }.',
  database: 'ioredis calls it db: redis: { host, port, db }.',
  hostname: 'ioredis calls it host: redis: { host, port }.',
  user: 'ioredis calls it username: redis: { host, port, username, password }.',
  pass: 'ioredis calls it password: redis: { host, port, password }.',
  nodes: 'Give a Cluster: redis: new Cluster(nodes), imported from ioredis.',
  rootNodes: 'Give a Cluster: redis: new Cluster(nodes), imported from ioredis.',
  redisOptions: 'Give a Cluster: redis: new Cluster(nodes, { redisOptions }), imported from ioredis.',
  scaleReads: 'Give a Cluster: redis: new Cluster(nodes), imported from ioredis.',
};

const EXPECTED =
  "expected redis to be a URL ('redis://localhost:6379'), options of ioredis ({ host, port }), or a client of ioredis (new Redis(…) or " +
  'new Cluster(…))';

/**
 * Checks what decides which server is used. Other options of ioredis may have any name: its next version may
 * have more of them.
 *
 * @throws {BloomConfigError} where ioredis would see no address, and connect to localhost or a socket.
 */
export function checkRedisOption(redis: BloomRedis, where: string): void {
  if (typeof redis === 'string' && redis.trim() !== '') return checkUrl(redis, where);
  if (typeof redis !== 'object' || redis === null || Array.isArray(redis)) throw refused(redis, where);
  if (isIoredis(redis) || isBrought(redis)) return;
  if (!isData(redis)) throw refused(redis, where);
  checkRedisOptions(redis, where);
}

function checkRedisOptions(redis: RedisOptions, where: string): void {
  for (const [name, value] of Object.entries(redis)) {
    if (value === undefined || (SPELLED as readonly string[]).includes(name)) continue;
    const near = nearestName(name, SPELLED, 1);
    const remedy = Object.hasOwn(FOREIGN, name)
      ? FOREIGN[name]
      : near !== undefined && !(near in redis) && `Did you mean 'redis.${near}'?`;
    if (remedy) throw new BloomConfigError(noSuchRedisOption(where, name, remedy));
  }
  const { port, db } = redis;
  const unset = ADDRESS.find((name) => name in redis && !redis[name]);
  if (unset !== undefined && !ADDRESS.some((name) => redis[name]))
    throw new BloomConfigError(wrongRedisPart(where, unset, 'a value', redis[unset]));
  if (!isDatabase(String(db ?? 0)))
    throw new BloomConfigError(wrongRedisPart(where, 'db', 'the number of a database', db));
  if (port !== undefined && !(Number(port) >= 0 && Number(port) < 65_536))
    throw new BloomConfigError(wrongRedisPart(where, 'port', 'a number below 65,536', port));
}

/** To ioredis `http://host` and `host/0` are paths of sockets, and a URL without a host is localhost. */
function checkUrl(url: string, where: string): void {
  const isPortOrSocket = /^(\d+$|\/(?!\/))/.test(url);
  if (isPortOrSocket) return;
  const [, scheme, rest = ''] = /^(?:([^/]*:)?\/\/)?([^?]*)/.exec(url)!;
  if (scheme !== undefined && !['redis:', 'rediss:'].includes(scheme))
    throw new BloomConfigError(wrongRedisUrl(where, `one that begins with ${printed(`${scheme}//`)}`));
  const afterUser = rest.slice(rest.lastIndexOf('@') + 1);
  if (!url.includes('//') && afterUser.includes('/'))
    throw new BloomConfigError(wrongRedisUrl(where, 'one with a path and without a scheme'));
  const host = /^(\[.*?\]|[^:/]*)/.exec(afterUser)![0];
  if (['', 'undefined', 'null'].includes(host))
    throw new BloomConfigError(wrongRedisUrl(where, `one with the host '${host}'. ${NOT_SET}`));
  if (scheme === undefined) return;
  const database = databaseIn(url);
  if (database === undefined) throw new BloomConfigError(wrongRedisUrl(where, NOT_READABLE));
  if (!isDatabase(database || '0'))
    throw new BloomConfigError(wrongRedisUrl(where, 'one whose path is no number of a database'));
}

const NOT_READABLE = 'one that cannot be read. Write #, /, ? and % of a password as %23, %2F, %3F and %25';

/** The path of a URL without its slash; undefined if it cannot be read, or a password has cut it in two. */
function databaseIn(url: string): string | undefined {
  try {
    const { username, password, pathname, search, hash } = new URL(url);
    decodeURIComponent(username + password);
    return (pathname + search + hash).includes('@') ? undefined : pathname.slice(1);
  } catch {
    return undefined;
  }
}

/** Other text becomes the database `NaN`: ioredis selects it, and nothing catches the error of Redis. */
function isDatabase(text: string): boolean {
  return /^\d{1,9}$/.test(text);
}

function isIoredis(redis: BloomRedis): redis is Redis | Cluster {
  return typeof redis === 'object' && 'status' in redis && 'callBuffer' in redis;
}

function isBrought(redis: BloomRedis): redis is BloomRedisClient {
  return typeof redis === 'object' && 'openClient' in redis;
}

/** @throws {BloomConfigError} when ioredis is not installed, or a client may not be used. */
export async function openRedis(redis: BloomRedis, writeTimeoutMs: number): Promise<RedisClient> {
  if (isBrought(redis)) return redis.openClient(writeTimeoutMs) as RedisClient;
  if (!isIoredis(redis)) return createIoredis(redis, writeTimeoutMs);
  assertUsable(redis);
  return new IoredisClient(redis, false);
}

/** Whether an object is plain data, as a literal or a configuration is, and no client of any library. */
function isData(value: object): value is RedisOptions {
  for (let proto: unknown = Object.getPrototypeOf(value); proto; proto = Object.getPrototypeOf(proto)) {
    // The prototype of literals, which is another one in each realm.
    if (Object.getPrototypeOf(proto) === null) return true;
    if (Reflect.ownKeys(proto).some((key) => key !== 'constructor')) return false;
  }
  return true;
}

function refused(redis: unknown, where: string): BloomConfigError {
  return new BloomConfigError(wrongRedis(where, EXPECTED, whatItIs(redis), remedy(redis)));
}

function whatItIs(redis: unknown): string {
  if (typeof redis === 'function') return `the ${redis.name || 'function'} itself`;
  if (typeof redis !== 'object' || redis === null || Array.isArray(redis)) return printed(redis);
  return `an object of the class ${redis.constructor?.name || 'without a name'}`;
}

function remedy(redis: unknown): string {
  if (redis === null || (typeof redis === 'string' && redis.trim() === ''))
    return ` ${NOT_SET} Leave redis out for filters in memory.`;
  if (typeof redis === 'function') return ' Call it, or construct it with new.';
  if (typeof redis !== 'object') return '';
  if (typeof (redis as PromiseLike<unknown>).then === 'function')
    return ' Await it: BloomModule.forRootAsync({ useFactory: async () => ({ redis: await … }) }).';
  return ' A client of node-redis is given as fromNodeRedis(client), of @nestjs-bloom/node-redis. One of Keyv or cache-manager cannot be used: give the URL or the options that it was made with.';
}
