const ANOTHER_KEY = 'Name the key of the filter: layout: redisBloom({ key }).';

export const commandsMissing = (filter: string, missing: readonly string[], error: string) =>
  `Filter '${filter}': expected a server with ${missing.join(', ')} for the layout redisBloom() (Redis 8, Redis Stack, ` +
  `Valkey with valkey-bloom, Dragonfly), got one that says "${error}". Load the module into it, name another server in the option redis, or ` +
  'leave out the option layout: the one of this library needs no module.';

export const fullToAdopt = (filter: string, key: string) =>
  `Expected room in the filter under key '${key}' of filter '${filter}', got one that does not scale and is full. Have its owner create a larger one.`;

export const notABloomFilter = (filter: string, key: string) =>
  `Expected the key '${key}' of filter '${filter}' to hold a filter of BF.* commands, got a key of another type. ${ANOTHER_KEY}`;

export const notReplaced = (key: string) =>
  `Expected key '${key}' to hold a filter of BF.* commands, or nothing, got a key of another type. It was left alone: name another key, ` +
  'layout: redisBloom({ key }), or delete this one.';

export const FULL =
  'Expected room in the filter, got one that does not scale and is full: not every id was added. Rebuild it with a larger capacity, or use a ' +
  'layout without nonScaling.';

export const ADDS_DID_NOT_FIT =
  'Ids that were added during the rebuild did not fit into the new filter, which does not scale. Raise its capacity.';
