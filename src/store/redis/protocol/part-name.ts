import { clusterSlot, SLOTS } from '../client/cluster-slot.js';

/** A part is at most so far from its place: a share of the slots that is smaller than any part of them. */
const NEAR_SLOTS = 16;

/**
 * What stands in the hash tag of the keys of a part. The first part has the name of the filter. The others have a number behind it, by which their hash slots are
 * spread evenly, however many parts there are: those of the first 2, 4, 8, 16, … parts have the same distance from each other. It does not depend on the number of parts,
 * so that processes with different numbers meet at the same keys.
 */
export function partName(filter: string, index: number): string {
  if (index === 0) return filter;
  const place = Math.floor(clusterSlot(filter) + mirrored(index) * SLOTS) % SLOTS;
  for (let number = 0; ; number++) {
    const name = `${filter}#${index}.${number}`;
    if ((clusterSlot(name) - place + SLOTS) % SLOTS < NEAR_SLOTS) return name;
  }
}

/** The bits of a number as a binary fraction, the last bit first: 1/2, 1/4, 3/4, 1/8, 5/8, … (the sequence of van der Corput). */
function mirrored(index: number): number {
  let fraction = 0;
  for (let [rest, weight] = [index, 0.5]; rest > 0; rest >>>= 1, weight /= 2) fraction += (rest & 1) * weight;
  return fraction;
}
