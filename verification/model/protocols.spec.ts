import { describe, expect, it } from '@jest/globals';
import { exploreModel } from './explore-model.js';
import { PROTOCOLS } from './protocols.js';

describe.each(PROTOCOLS)('The model of $name', ({ safeties, systems }) => {
  it('takes each of its rules out of one system', () => {
    const shown = systems.flatMap(({ shows }) => shows);
    expect(shown.toSorted()).toEqual(Object.keys(safeties).toSorted());
  });

  it.each(systems.flatMap(({ shows, build }) => shows.map((safety) => ({ safety, build }))))(
    'breaks the promise without $safety',
    ({ safety, build }) => {
      const { violation } = exploreModel(build(safety), 1_000_000);
      expect(violation?.steps.length).toBeGreaterThan(2);
    },
    60_000,
  );
});
