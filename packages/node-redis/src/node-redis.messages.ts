export const notAClient = (got: string) =>
  `fromNodeRedis: expected a client of createClient() of redis 5 or 6, got ${got}. For a Cluster or Sentinel, set the option redis to a ` +
  'client of ioredis.';

export const READS_FROM_REPLICA =
  'fromNodeRedis: expected a client of the primary, got one with readonly: true: a replica may not have an id yet that was added. Pass a ' +
  'client without readonly.';

export const answeredNothing = (ms: number) =>
  `Redis has answered nothing for ${ms} ms. The connection is opened again.`;

export const CLOSED = 'The connection to Redis is closed.';
