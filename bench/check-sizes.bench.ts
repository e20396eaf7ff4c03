import { BlockedFilter, createGeneration, planFilter } from '../src/filter/index.js';
import { CLimit } from './c-limit.js';
import { assert, type Bench, Comparison, type Contender, rate } from './harness.js';
import { idText, somePresent } from './ids.js';

const POOL = 1 << 20;

export const bench: Bench = async (context) => {
  const { report, pick } = context;
  const checks = pick(4_000_000, 100_000);
  for (const ids of pick([1e5, 1e6, 1e7, 1e8], [1e4, 1e5])) {
    const plan = planFilter({ capacity: ids, errorRate: 0.001 });
    // It fills its filter while this process fills its own.
    const starting = CLimit.start(plan, checks, context);
    const filter = new BlockedFilter(createGeneration(plan));
    for (let i = 0; i < ids; i++) filter.add(idText('prod', i));
    const limit = await starting;
    const pool = somePresent(pick(POOL, 10_000), ids);
    assert(
      pool.every((id) => filter.mightContain(id)),
      'ours to find every id',
    );

    const ours = () =>
      rate(checks, () => {
        let found = 0;
        for (let i = 0, at = 0; i < checks; i++) {
          if (filter.mightContain(pool[at]!)) found++;
          if (++at === pool.length) at = 0;
        }
        return found;
      });
    const contenders: Contender[] = [{ name: 'ours', measure: ours }];
    if (limit) contenders.push({ name: 'C', measure: () => limit.measure('hits') });
    const result = await Comparison.run(contenders, pick(5, 1));
    const metric = `checks/s, ${ids.toLocaleString('en')} ids`;
    result.reportOthers(report, metric);
    result.expectTimes(report, { metric, to: 'C', atLeast: 0.35 });
  }
};
