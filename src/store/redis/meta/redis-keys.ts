import { clusterSlot, SLOTS } from '../../index.js';

/** Names of all keys of one filter. The braces make them share a hash slot of a cluster. */
export class RedisKeys {
  readonly meta: string;
  readonly lease: string;
  /** Facts about the builds: when the last ones began, and how they ended. */
  readonly builds: string;
  /** Table of the negative cache; its stored name is older. */
  readonly negativeCache: string;
  /** Processes that may answer "absent" from a copy, and what they have acknowledged. */
  readonly readers: string;
  /** Stream of what they have to apply. */
  readonly feed: string;
  /** Channel that tells what all of them have applied. */
  readonly acks: string;
  /** The epoch in which the generations of all parts are built; kept by the first part. */
  readonly epoch: string;
  /** Key of the inspection at start-up. */
  readonly probe: string;
  readonly segment = (index: number): string => `${this.base}:${index}`;
  private readonly base: string;

  constructor(keyPrefix: string, filter: string) {
    this.base = `${keyPrefix}:{${filter}}`;
    this.meta = `${this.base}:meta`;
    this.lease = `${this.base}:lease`;
    this.builds = `${this.base}:builds`;
    this.negativeCache = `${this.base}:denials`;
    this.readers = `${this.base}:readers`;
    this.feed = `${this.base}:feed`;
    this.acks = `${this.base}:acks`;
    this.epoch = `${this.base}:epoch`;
    this.probe = `${this.base}:probe`;
  }

  /** `token` names the staging, so that no other run ever writes to the key. */
  staging(token: string, index: number): string {
    return `${this.base}:next:${token}:${index}`;
  }

  scratch(token: string): string {
    return `${this.base}:next:${token}:scratch`;
  }

  /** Where a live segment is moved before it is removed. */
  retired(token: string, index: number): string {
    return `${this.base}:old:${token}:${index}`;
  }
}

/** A part is at most so far from its place: a share of the slots that is smaller than any part of them. */
const NEAR_SLOTS = 16;

/**
 * What stands in the hash tag of the keys of a part. The first part has the name of the filter. The others
 * have a number behind it, by which their hash slots are spread evenly, however many parts there are: those
 * of the first 2, 4, 8, 16, … parts have the same distance from each other. It does not depend on the number
 * of parts, so that processes with different numbers meet at the same keys.
 */
export function partName(filter: string, index: number): string {
  if (index === 0) return filter;
  const place = Math.floor(clusterSlot(filter) + mirrored(index) * SLOTS) % SLOTS;
  for (let number = 0; ; number++) {
    const name = `${filter}#${index}.${number}`;
    if ((clusterSlot(name) - place + SLOTS) % SLOTS < NEAR_SLOTS) return name;
  }
}

/** The sequence of van der Corput: 1/2, 1/4, 3/4, 1/8, 5/8, … */
function mirrored(index: number): number {
  let fraction = 0;
  for (let [rest, weight] = [index, 0.5]; rest > 0; rest >>>= 1, weight /= 2) fraction += (rest & 1) * weight;
  return fraction;
}

/** The format of a part is this plus the number of parts, so scripts compare both. */
const BASE = 30_000;
const MOST = 9_999;

/** Format 4: as format 1, of a filter that is read with leases. */
export const LEASED_FORMAT = '4';

/** Format 5: as formats 1 and 4, of a filter whose generations may have layout `exact`. */
export const EXACT_FORMAT = '5';

/** Format 3: as format 1, of one of so many parts. */
export function partsFormat(parts: number): string {
  return String(BASE + parts);
}

/** Parts of a filter with this format, 0 if it is not divided; undefined for an unknown format. */
export function partsOfFormat(format: string): number | undefined {
  if (['1', '2', LEASED_FORMAT, EXACT_FORMAT].includes(format)) return 0;
  const parts = Number(format) - BASE;
  return parts > 0 && parts <= MOST ? parts : undefined;
}
