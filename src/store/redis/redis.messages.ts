export const layoutNotInRedis = (filter: string, layout: string) =>
  `Filter '${filter}': expected a layout that Redis can hold, got ${layout}. Use another layout.`;

export const twoFiltersOnKey = (key: string, filters: readonly [string, string]) =>
  `Expected each filter to have a key of its own, got the filters '${filters[0]}' and '${filters[1]}' on the key '${key}'. Register one ` +
  'filter for that key, and guard with it everywhere.';

export const IOREDIS_MISSING =
  "Expected the package 'ioredis' beside nestjs-bloom, since the option redis is set. Run: npm install ioredis";

export const refusedByIoredis = (reason: string) =>
  `Expected the option redis to be what ioredis takes, and it says: ${reason}. In a URL, write special characters of a password as %xx.`;

export const readsFromReplicas = (got: string) =>
  `Expected a Cluster with scaleReads 'master', got '${got}': a replica may not have an id yet that was added. Pass a client of its own to ` +
  'BloomModule.';

export const clientOfReplica = (role: string) =>
  `Expected a client of the master, got role '${role}': a replica cannot be written to, and may not have an id yet that was added. Pass a ` +
  "client with role 'master'.";

export const PIPELINES_SCRIPTS =
  "Expected a Cluster without enableAutoPipelining, or with autoPipeliningIgnoredCommands: ['eval', 'evalsha'], since ioredis sends scripts " +
  'to the wrong node otherwise. Set it, or pass a client of its own to BloomModule.';
