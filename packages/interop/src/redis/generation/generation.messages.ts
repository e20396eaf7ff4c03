export const KEY_REPLACED = 'The key is missing or was replaced.';

export const noHashSlot = (got: string) =>
  `Expected a key without braces or with a hash tag such as '{shop}:products', got ${got}: no other key could share its hash slot. Use ` +
  'another key on every side.';

export const keyNotReady = (
  { filter, key, state }: { readonly filter: string; readonly key: string; readonly state: string },
  isTakenAutomatically: boolean,
) =>
  `Filter '${filter}' on key '${key}' is ${state} and has no source: the id was not recorded. ` +
  (isTakenAutomatically
    ? 'The filter becomes ready as soon as its owner has created the key.'
    : 'Have its owner fill the key, then call adopt().');

export const noKeyToAdopt = (filter: string, key: string) =>
  `There is no key '${key}' for filter '${filter}'. Have its owner fill it, then call adopt() again.`;
