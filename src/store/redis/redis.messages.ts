export const layoutNotInRedis = (filter: string, layout: string) =>
  `Filter '${filter}': expected a layout that Redis can hold, got ${layout}. Use another layout.`;

export const twoFiltersOnKey = (key: string, filters: readonly [string, string]) =>
  `Expected each filter to have a key of its own, got the filters '${filters[0]}' and '${filters[1]}' on the key '${key}'. Register one ` +
  'filter for that key, and guard with it everywhere.';
