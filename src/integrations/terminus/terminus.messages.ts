import { printed } from '../../common/index.js';

const HEAD = 'BloomHealthIndicator: expected';

export const wrongKey = (got: unknown) => `${HEAD} key to be a text, got ${printed(got)}.`;

export const wrongAllow = (got: unknown, states: readonly string[]) =>
  `${HEAD} allow to be an array of ${states.map((state) => `'${state}'`).join(', ')}, got ${printed(got)}. For a filter that has to be ready, ` +
  'give an empty array.';

export const wrongTime = (option: string, got: unknown) =>
  `${HEAD} ${option} to be a number of milliseconds above 0, got ${printed(got)}.`;

export const wrongMaxErrorRate = (got: unknown) =>
  `${HEAD} maxErrorRate to be a share above 0 and up to 1, got ${printed(got)}.`;

export const noAnswerInTime = (timeoutMs: number) => `The store did not answer within ${timeoutMs} ms.`;

/** Without the cause: a route that everybody may call must not show where the store is. */
export const NOT_ASKED = 'The store could not be asked. The log says why.';

export const notProtecting = (state: string) =>
  `The filter is ${state}: lookups go through to the database unchecked.`;

export const tooOld = (ageMs: number, maxAgeMs: number) =>
  `The filter was built ${ageMs} ms ago, and maxAgeMs is ${maxAgeMs}.`;

export const tooManyPass = (rate: number, maxErrorRate: number) =>
  `A share of ${rate} of the lookups of absent ids passes the filter, and maxErrorRate is ${maxErrorRate}.`;
