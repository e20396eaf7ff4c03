import type { Expectation } from '../common/index.js';

const MAX_LENGTH = 214;

export const OWNER: Expectation = [
  `the name of an application, a text of 1 to ${MAX_LENGTH} characters, or false`,
  (owner) => owner === false || isOwnerName(owner),
];

/** Whether metadata can hold a text as an owner: an unpaired surrogate would come back as another character. */
export function isOwnerName(value: unknown): value is string {
  return (
    typeof value === 'string' && value !== '' && value.length <= MAX_LENGTH && !/\p{Surrogate}/u.test(value)
  );
}
