import { printed } from '../common/index.js';

export const notIdsByFilter = (ids: unknown) =>
  `Expected the ids of a test by the name of their filter, such as { products: ['a', 'b'] }, got ${printed(ids)}.`;

export const notIdsOfFilter = (name: string, list: unknown) =>
  `Expected the ids of filter '${name}' to be an array, got ${printed(list)}. An empty filter is [].`;

export const filterIsDown = (filter: string) =>
  `Filter '${filter}' is down, as BloomTestingModule.down() asked for.`;

export const idsNotNamed = (
  decorator: string,
  filter: string,
  method: string,
  given: string,
  property: string,
) =>
  `@${decorator}(${filter}) on ${method}: expected the test to name the ids of ${filter}, got those of ${given}. ` +
  `Add ${property}: [], or use BloomTestingModule.passAll().`;

export const LEASE_TAKEN = 'Expected the lease of a filter that nothing else has opened, got none.';

export const buildNotDue = (ms: number) => `Expected a build to be due, got a pause of ${ms} ms.`;
