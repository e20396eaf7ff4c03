import { NOT_SET, printed } from '../../../common/index.js';

export const CIRCUIT_OPEN =
  'The last lookups in Redis failed, so this one was not sent. The event circuit-opened has the error of the last one.';

export const answeredTooLate = (operation: string, ms: number) =>
  `Redis did not answer '${operation}' within ${ms} ms.`;

export const tooManyLookupsWaiting = (lookups: number) =>
  `Redis has not answered the last ${lookups} lookups, so this one was not sent.`;

export const notConnected = (status: string) =>
  `Redis is not connected (${status}). The client connects again automatically.`;

export const unexpectedReply = (asked: string, got: string) =>
  `Expected a documented reply to ${asked}, got ${got}. Check whether a proxy, or an option of the client, changes replies.`;

export const noMaster = (cause: string) =>
  `The server is not a primary (${cause}). The connection is opened again, since its address may lead to another server.`;

export const SERVER_IS_REPLICA =
  'BLOOM_SERVER_IS_REPLICA: The Redis server that answers is a replica, so every lookup is unknown and every add is rejected. If this is the wrong address, set the ' +
  'option redis to that of the primary. If the address leads to another primary by now, the client does not see it while its connection stays ' +
  "open: create it with reconnectOnError: (e) => (e.message.includes('READONLY') ? 2 : false) and a retryStrategy, or set the option redis " +
  'to a URL or ioredis options instead of a client.';

export const lostOnSilentConnection = (script: string) =>
  `Redis did not run '${script}', which is sent without waiting for a reply. For a minute it is sent with replies. Nothing needs to be done, unless this repeats.`;

const PROXY =
  'A proxy may send commands of one connection to another server: for up to two seconds an id that only the other one has is then ' +
  'answered "absent". Connect to Redis itself, or by a proxy in TCP mode.';

export const signsOfProxyFound = (signs: string) => `BLOOM_PROXY: ${signs} ${PROXY}`;

export const serverReplaced = (before: string, now: string) =>
  `BLOOM_PROXY: Another Redis server answers on a connection that stayed open (run_id ${now}, before it ${before}). ${PROXY}`;

export const TWO_CONNECTIONS = 'Two commands that were sent on one connection reached Redis on two.';

export const OLDER_CONNECTION =
  'The connection to Redis is older at the server than here, as behind a proxy that shares connections.';

export const otherAddresses = (
  atServer: { readonly from: string; readonly to: string },
  here: { readonly local: string; readonly remote: string },
) =>
  `The server sees a connection from ${atServer.from} to ${atServer.to}, while here it leads from ${here.local} to ${here.remote}: there is a ` +
  'proxy in between, or a translation of both addresses, which does no harm.';

export const wrongRedis = (where: string, expected: string, got: string, remedy: string) =>
  `${where}: ${expected}, got ${got}.${remedy}`;

export const noSuchRedisOption = (where: string, name: string, remedy: string) =>
  `${where}: expected no option 'redis.${name}'. ${remedy}`;

export const wrongRedisPart = (where: string, option: string, expected: string, got: unknown) =>
  `${where}: expected redis.${option} to be ${expected}, got ${printed(got)}. ${NOT_SET}`;

/** The URL itself is not printed: it may have a password. */
export const wrongRedisUrl = (where: string, got: string) =>
  `${where}: expected redis to be a URL such as redis://localhost:6379 (rediss:// for TLS), got ${got}`;

export const IOREDIS_MISSING =
  "Expected the package 'ioredis' beside nestjs-bloom, since the option redis is set. Run: npm install ioredis";

export const refusedByIoredis = (reason: string) =>
  `Expected the option redis to be what ioredis takes, and it says: ${reason}. In a URL, write special characters of a password as %xx.`;

export const readsFromReplicas = (got: string) =>
  `Expected a Cluster with scaleReads 'master', got '${got}': a replica may not have an id yet that was added. Pass a client of its own to ` +
  'BloomModule.';

export const clientOfReplica = (role: string) =>
  `Expected a client of the primary, got role '${role}': a replica cannot be written to, and may not have an id yet that was added. Pass a ` +
  "client with role 'master'.";

export const PIPELINES_SCRIPTS =
  "Expected a Cluster without enableAutoPipelining, or with autoPipeliningIgnoredCommands: ['eval', 'evalsha'], since ioredis sends scripts " +
  'to the wrong node otherwise. Set it, or pass a client of its own to BloomModule.';
