import type { RedisOptions } from 'ioredis';
import { BloomConfigError, checkOptions, printed } from '../common/index.js';
import type { BloomRedis } from '../store/redis/index.js';
import { wrongRedis } from './module.messages.js';

/** Those of ioredis 5 and 6. ioredis takes any other one without a word, and connects to localhost if it was the address. */
const IOREDIS = {
  name: true,
  path: true,
  retryStrategy: true,
  port: true,
  host: true,
  family: true,
  monitor: true,
  reconnectOnError: true,
  readOnly: true,
  sentinels: true,
  enableOfflineQueue: true,
  himportFieldsets: true,
  Connector: true,
  commandTimeout: true,
  blockingTimeout: true,
  blockingTimeoutGrace: true,
  socketTimeout: true,
  keepAlive: true,
  noDelay: true,
  connectionName: true,
  disableClientInfo: true,
  clientInfoTag: true,
  username: true,
  password: true,
  db: true,
  autoResubscribe: true,
  autoResendUnfulfilledCommands: true,
  stringNumbers: true,
  protocol: true,
  replyMapping: true,
  connectTimeout: true,
  maxRetriesPerRequest: true,
  maxLoadingRetryTime: true,
  enableAutoPipelining: true,
  autoPipeliningIgnoredCommands: true,
  offlineQueue: true,
  commandQueue: true,
  enableReadyCheck: true,
  lazyConnect: true,
  scripts: true,
  keyPrefix: true,
  showFriendlyErrorStack: true,
  role: true,
  tls: true,
  sentinelUsername: true,
  sentinelPassword: true,
  sentinelRetryStrategy: true,
  sentinelReconnectStrategy: true,
  preferredSlaves: true,
  disconnectTimeout: true,
  sentinelCommandTimeout: true,
  enableTLSForSentinelMode: true,
  sentinelTLS: true,
  natMap: true,
  updateSentinels: true,
  sentinelMaxConnections: true,
  failoverDetector: true,
} satisfies Record<keyof RedisOptions, true>;

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

/** @throws {BloomConfigError} for what ioredis would take for options without an address, and connect to localhost. */
export function checkRedisOption(redis: BloomRedis, where: string): void {
  if (typeof redis === 'string' && redis.trim() !== '') return;
  if (typeof redis !== 'object' || redis === null || Array.isArray(redis)) throw refused(redis, where);
  if (isClient(redis)) return;
  if (!isData(redis)) throw refused(redis, where);
  checkOptions(redis, {
    where,
    path: 'redis.',
    known: IOREDIS,
    elsewhere: (name) => (Object.hasOwn(FOREIGN, name) ? FOREIGN[name] : undefined),
  });
}

function isClient(redis: object): boolean {
  return 'status' in redis && 'callBuffer' in redis;
}

/** Whether an object has members of its own alone, as a literal or an object of a configuration: no client of any library is such. */
function isData(value: object): boolean {
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
  if (redis === '' || redis === null) return ' Leave redis out for filters in memory.';
  if (typeof redis === 'function') return ' Call it, or construct it with new.';
  if (typeof redis !== 'object') return '';
  if (typeof (redis as PromiseLike<unknown>).then === 'function')
    return ' Await it: BloomModule.forRootAsync({ useFactory: async () => ({ redis: await … }) }).';
  return ' A client of node-redis, Keyv or cache-manager cannot be used: give the URL or the options that it was made with.';
}
