import type { IdKey } from '../filter/index.js';

const SIZE = 256;

/**
 * Ids chosen at random, each with the same chance. After the first ones it is known how many do not get in
 * before the next one does (algorithm L of K.-H. Li, "Reservoir-Sampling Algorithms of Time Complexity O(n(1
 * + log(N/n)))", 1994).
 */
export class IdSample {
  readonly ids: IdKey[] = [];
  /** Ids to come that do not get in. */
  passing = 0;
  private largest = 1;

  constructor(private readonly size = SIZE) {}

  /** Takes the next id that gets in. */
  take(id: IdKey): void {
    const { size } = this;
    if (this.ids.length < size) this.ids.push(id);
    else this.ids[Math.floor(Math.random() * size)] = id;
    if (this.ids.length < size) return;
    // As if each id drew a number, and the least were kept: the largest one of these, and how long it takes
    // until a number is smaller.
    this.largest *= (1 - Math.random()) ** (1 / size);
    this.passing = Math.floor(Math.log(1 - Math.random()) / Math.log1p(-this.largest));
  }
}
