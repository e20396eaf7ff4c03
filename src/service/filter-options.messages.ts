import { MAX_ID_BYTES_LIMIT, NORMALIZERS } from '../filter/index.js';

export const wrongFilterOption = (filter: string, option: string, expected: string, got: string) =>
  `Filter '${filter}': expected ${option} to be ${expected}, got ${got}.`;

export const filterCannotBe = (filter: string, reason: string) => `Filter '${filter}': ${reason}`;

// What is expected of an option, as the end of "expected … to be".
export const FILTER_NAME = 'a name of letters, digits and . _ -';
export const NO_SOURCE_TO_GROW = 'no source, since a filter that grows is not rebuilt';
export const SOURCE =
  'an object with a method ids(), a provider class whose instances have one, or { inject, useFactory }';
export const SOURCE_OF_SCHEDULE = 'a source, since a schedule is given';
export const REPLICA_MODE = "'off', 'verified' or 'leased'";
export const noCopiesOf = (layout: string) => `'off' with the layout ${layout}, of which there are no copies`;
export const NO_LEASED_PARTS = "'off' or 'verified' with partitions, since copies of parts have no leases";
export const NO_LEASES_OF_PARTS = 'left out with partitions, since copies of parts have no leases';
export const partitions = (most: number) =>
  `an integer from 2 to ${most}, the same in all processes and for ever, or true for 16, which suits most clusters, or left out for a filter on one node`;
export const noPartitionsOf = (layout: string) =>
  `left out with the layout ${layout}, which cannot be divided`;
export const noLeasesOf = (layout: string) =>
  `left out with the layout ${layout}, of which there are no copies`;
export const copyLeaseMs = (least: number, longest: number) =>
  `a whole number of milliseconds from ${least} to ${longest}`;
export const CREATE = "'first-start' or 'explicit'";
export const NO_CREATE_WITH_SOURCE = 'left out with a source, whose first rebuild creates the filter';
export const NO_CREATE_ON_PEERS_KEY =
  'left out with a filter on a key of other systems, which create it; see the option adopt of the layout';
export const TRUE_OR_FALSE = 'true or false';
export const NORMALIZE = `a function, or one of ${Object.keys(NORMALIZERS)
  .map((name) => `'${name}'`)
  .join(', ')}`;
export const SHARE = 'a share from 0 to 1';
export const MILLISECONDS = 'a number of milliseconds';
export const MEMORY_MIB = 'a whole number of MiB from 1 to 4096';
export const LEASE_MS = 'at least 100 milliseconds';
export const MAX_ID_BYTES = `an integer from 1 to ${MAX_ID_BYTES_LIMIT}`;
export const atLeastPlanned = (bytes: number) => `at least what capacity and errorRate take, ${bytes}`;
export const NEGATIVE_CACHE = '{ lifeMs, maxIds, shared }, true or false';
export const idsUpTo = (mostIds: number) => `a number of ids up to ${mostIds}`;
export const CRON = "a cron expression such as '0 4 * * *'";
export const TIME_ZONE = 'an IANA time zone';
export const ONE_SCHEDULE = 'either cron or everyMs, not both';
export const ON_BOOT = "'if-missing', 'always' or 'never'";
export const ON_BAD_ID = "'fail' or 'skip'";
export const TOP_UP = '{ everyMs, overlapMs, ordered, order, beyond, slack }';
export const SOURCE_OF_TOP_UP =
  'one that has idsSince(mark), since topUp is given; sources of this package have it with their option order';
export const TOP_UP_EVERY_MS = 'at least 10 milliseconds';
export const lessThanStall = (stallMs: number) =>
  `a number of milliseconds below rebuild.stallMs, ${stallMs}`;
export const ID_ORDER = "'integer' or 'text'";
export const BEYOND = "'unknown' or 'absent'";
export const ORDERED_FOR_BEYOND = 'true with topUp.beyond, which speaks of ids in an order';
export const INTEGER_FOR_SLACK = "'integer' with topUp.beyond 'absent', since texts have no distance";
export const SLACK =
  "a number of ids with topUp.beyond 'absent': those that may be taken before they are read";
export const NO_SLACK = "left out unless topUp.beyond is 'absent'";
export const FEED = 'an object with a method follow(context), such as postgresFeed() makes';
export const SOURCE_OF_FEED = 'given with a feed: rows that the feed has missed are found by a rebuild';
