const MAX_LENGTH = 214;

/** For error messages. */
export const OWNER_NAME = `the name of an application, a text of 1 to ${MAX_LENGTH} characters, or false`;

/** Whether metadata can hold a text as an owner: an unpaired surrogate would come back as another character. */
export function isOwnerName(value: unknown): value is string {
  return (
    typeof value === 'string' && value !== '' && value.length <= MAX_LENGTH && !/\p{Surrogate}/u.test(value)
  );
}
