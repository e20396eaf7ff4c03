import { BlockedFilter, createGeneration, planFilter } from '../src/filter/index.js';
import { assert, type Bench } from './harness.js';
import { idText } from './ids.js';

export const bench: Bench = async ({ report, pick }) => {
  const ids = pick(1_000_000, 20_000);
  // 1,000 false positives at the lowest error rate: a standard deviation of 3 %, which is 0.3 % of its
  // logarithm.
  const probes = pick(10_000_000, 100_000);
  for (const errorRate of [0.01, 0.001, 0.0001]) {
    const plan = planFilter({ capacity: ids, errorRate });
    const filter = new BlockedFilter(createGeneration(plan));
    for (let i = 0; i < ids; i++) filter.add(idText('prod', i));
    for (let i = 0; i < ids; i += 97) assert(filter.mightContain(idText('prod', i)), 'every id to be found');
    let passed = 0;
    for (let i = 0; i < probes; i++) if (filter.mightContain(idText('none', i))) passed++;
    const measured = Math.max(passed, 1) / probes;
    const textbook = -Math.log(measured) / Math.LN2 ** 2;
    report.figure('ours', `error rate for ${errorRate}`, measured);
    report.figure('the textbook', `bits per id at ${errorRate}`, textbook);
    report.goal({
      contender: 'ours',
      metric: `bits per id at ${errorRate}`,
      value: plan.bitsPerId,
      ratio: plan.bitsPerId / textbook,
      atMost: 1.06,
      of: '× the textbook',
    });
  }
};
