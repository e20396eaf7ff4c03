/** A set of numbers from 1 on: bit 0 is number 1. */
export type Numbers = number;

/** A filter of two parts, of which each is a bit. */
export const ALL_PARTS = 0b11;
/** The first part has the odd numbers, the second one the even ones. */
const NUMBERS = [0b0101_0101, 0b1010_1010] as const;

export function numbersOf(parts: number): Numbers {
  return ((parts & 1) === 0 ? 0 : NUMBERS[0]) | ((parts & 2) === 0 ? 0 : NUMBERS[1]);
}

/** The parts that a rebuild may be of: all of them, or those that are lost. */
export function partsOfRebuilds(lost: number): readonly number[] {
  return lost === 0 || lost === ALL_PARTS ? [ALL_PARTS] : [ALL_PARTS, lost];
}

export function nameOfParts(parts: number): string {
  return parts === ALL_PARTS ? 'all parts' : 'what is lost';
}
