export const notAClient = (got: string) =>
  `fromNodeRedis: expected what createClient(), createCluster() or createSentinel() of redis 5 or 6 gives, got ${got}.`;

export const KEEPS_ITS_OPTIONS =
  'fromNodeRedis: expected a Sentinel of redis 6, got one of redis 5, whose options cannot be read. Pass the options themselves: ' +
  'fromNodeRedis({ name, sentinelRootNodes }).';

export const READS_FROM_REPLICA =
  'fromNodeRedis: expected a client of the primary, got one with readonly: true: a replica may not have an id yet that was added. Pass a ' +
  'client without readonly.';

export const answeredNothing = (ms: number) =>
  `Redis has answered nothing for ${ms} ms. The connection is opened again.`;

export const CLOSED = 'The connection to Redis is closed.';

export const NO_SLOTS =
  'Expected the node to know which node has which slots, got an empty reply to CLUSTER SLOTS. It is asked again.';

export const noMasterOfSlot = (slot: number) =>
  `No primary of the cluster has the slot ${slot} at the moment.`;

export const knowsNoMaster = ({ host, port }: { host: string; port: number }, name: string) =>
  `The sentinel ${host}:${port} knows no primary with the name '${name}'. Set name to that of 'sentinel monitor' in its configuration.`;
