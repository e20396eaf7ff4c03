export const layoutNotInMemory = (filter: string, layout: string) =>
  `Filter '${filter}' has the layout ${layout}, which is that of keys in Redis: give BloomModule.forRoot the option redis, or use the layout ` +
  "'blocked'.";

export const STAGING_DROPPED = 'The new build was dropped.';

export const LEASED_IN_MEMORY =
  "BLOOM_LEASED_IN_MEMORY: replica: 'leased' and leaseMs have no effect: the filters of this application are in the memory of each process, since BloomModule has no " +
  'option redis. Set redis, or leave both out.';
