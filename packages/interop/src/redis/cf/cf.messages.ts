export const commandsMissing = (filter: string, error: string) =>
  `Filter '${filter}': expected a server with CF.* for the layout cuckoo() (Redis 8, Redis Stack), got one that says "${error}". Load ` +
  'the module into it, or name another server in the option redis.';

export const FULL =
  'Expected room in the cuckoo filter, got a full one: not every id was added. Rebuild it with a larger capacity.';

export const STAGED_FULL =
  'The new cuckoo filter has no room for the ids of the source and those that were added meanwhile. Raise its capacity, or let it ' +
  'grow: layout: cuckoo({ expansion }).';

export const FILTER_GONE = 'The filter is gone, or damaged.';

export const notRemoved = (filter: string, state: string) =>
  `Filter '${filter}' is ${state}: the id was not removed. Remove it again when the filter is ready, or leave it in until the next rebuild.`;

export const removedTooLate = (ms: number) =>
  `The removal reached Redis more than ${ms} ms after it began, and it is not known whether it was carried out. Do not repeat it.`;
