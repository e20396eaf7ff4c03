import { describe, expect, it } from '@jest/globals';
import { exploreModel } from './explore-model.js';
import { PROTOCOLS } from './protocols.js';

describe.each(PROTOCOLS)('The model of $name', ({ safeties, systems }) => {
  it('takes each of its rules out of one system', () => {
    const shown = systems.flatMap(({ shows, spares }) => [...shows, ...spares]);
    expect(shown.toSorted()).toEqual(Object.keys(safeties).toSorted());
  });

  it.each(systems.flatMap(({ shows, build }) => shows.map((safety) => ({ safety, build }))))(
    'breaks the promise without $safety',
    ({ safety, build }) => {
      const { violation } = exploreModel(build(safety), 1_000_000);
      expect(violation?.steps.length).toBeGreaterThan(2);
    },
  );

  const spares = systems.flatMap(({ spares: names, build }) => names.map((safety) => ({ safety, build })));
  if (spares.length === 0) return;
  it.each(spares)('keeps the promise without $safety, which only saves work', ({ safety, build }) => {
    expect(exploreModel(build(safety), 1_000_000)).toMatchObject({ violation: undefined, isCut: false });
  });
});
