import { describe, expect, it } from '@jest/globals';
import { exploreModel } from './explore-model.js';
import { PROTOCOLS } from './protocols.js';

/** States that a test looks at. `npm run model` goes on to the end, and fails where a rule is not missed. */
const LOOKED_AT = 25_000;

describe.each(PROTOCOLS)('The model of $name', ({ safeties, systems }) => {
  it('takes each of its rules out of one system', () => {
    const shown = systems.flatMap(({ shows, spares }) => [...shows, ...spares]);
    expect(shown.toSorted()).toEqual(Object.keys(safeties).toSorted());
  });

  it.each(systems.flatMap(({ shows, build }) => shows.map((safety) => ({ safety, build }))))(
    'breaks the promise without $safety, as far as it is looked at',
    ({ safety, build }) => {
      const { violation, isCut } = exploreModel(build(safety), LOOKED_AT);
      expect(isCut || violation!.steps.length > 2).toBe(true);
    },
  );

  const spares = systems.flatMap(({ spares: names, build }) => names.map((safety) => ({ safety, build })));
  if (spares.length === 0) return;
  it.each(spares)('keeps the promise without $safety, which only saves work', ({ safety, build }) => {
    expect(exploreModel(build(safety), LOOKED_AT).violation).toBeUndefined();
  });
});
