export const boardOfOthers = (filter: string) =>
  `Filter '${filter}' belongs to another application, so its instances and its mode are not those of this one.`;

export const beatUnanswered = (filter: string) =>
  `Redis has not answered the last heartbeat of filter '${filter}', so no other one was sent.`;

export const notWritten = (filter: string, cause: string) =>
  `Redis did not carry out a command about the instances of filter '${filter}': ${cause}`;

export const boardRefused = (filter: string, error: string) =>
  `BLOOM_COMMAND_REFUSED: Redis refuses this user what the instances of filter '${filter}' report to each other (${error}). So other instances do not see this one, and the mode that is set for all of ` +
  "them does not reach it. Permit its commands on the filter's keys (see 'Commands to allow' in docs/operations.md), or set heartbeat: false in BloomModule.forRoot().";

export const marksOfOthers = (filter: string) =>
  `Filter '${filter}' belongs to another application, which follows the writers of its rows.`;

export const marksRefused = (filter: string, error: string) =>
  `BLOOM_COMMAND_REFUSED: Redis refuses this user the notes of filter '${filter}' on rows that others write (${error}). Permit its commands on the filter's keys (see 'Commands to allow' in ` +
  'docs/operations.md).';

export const notNoted = (filter: string, cause: string) =>
  `Redis did not carry out a command about the rows of filter '${filter}' that others write: ${cause}`;
