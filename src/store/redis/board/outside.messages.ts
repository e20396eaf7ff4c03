export const ledgerOfOthers = (filter: string) =>
  `Filter '${filter}' belongs to another application, which follows the writers of its rows.`;

export const ledgerRefused = (filter: string, error: string) =>
  `Redis refuses this user the notes of filter '${filter}' on rows that others write (${error}). Permit its commands on the filter's keys (see 'Commands to allow' in ` +
  'docs/operations.md).';

export const notNoted = (filter: string, cause: string) =>
  `Redis did not carry out a command about the rows of filter '${filter}' that others write: ${cause}`;
