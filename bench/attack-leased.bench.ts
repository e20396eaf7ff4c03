import { assert, type Bench, Comparison, type Contender, median } from './harness.js';
import { idText } from './ids.js';
import { requestsPerSecond } from './load.js';
import { OtherProcess } from './other-process.js';
import { countCommands, redisBench } from './redis-bench.js';

const INSTANCES = 3;
const METRIC = 'requests/s, 3 instances';

/**
 * An attack on a guarded route of three instances with leased copies, and on a route that throws a 404 at
 * once.
 */
export const bench: Bench = async (context) => {
  const { report, pick } = context;
  const ids = pick(1_000_000, 20_000);
  const { url } = await redisBench(context);
  let next = 0;
  let requests = 0;
  const attack = async (addresses: readonly string[]) => {
    const load = { nextPath: () => `/products/${idText('none', next++)}`, seconds: pick(4, 1), status: 404 };
    const seen = await Promise.all(addresses.map((address) => requestsPerSecond(address, load)));
    requests = seen.reduce((sum, one) => sum + one.requests, 0);
    return seen.reduce((sum, one) => sum + one.rate, 0);
  };
  const contenders: Contender[] = [];
  const commands: number[] = [];
  for (const kind of ['leased', '404']) {
    const addresses: string[] = [];
    for (let i = 0; i < INSTANCES; i++) {
      const app = OtherProcess.start('route-app.ts', [kind, url, String(ids), i > 0 ? 'built' : ''], context);
      addresses.push((await app.answer<{ url: string }>()).url);
    }
    for (const address of addresses)
      assert(
        (await fetch(`${address}/products/none-x`)).status === 404,
        'an absent id to be answered with 404',
      );
    const measure = async () => {
      const counted = await countCommands(url);
      const rate = await attack(addresses);
      const sent = counted.end();
      if (kind === 'leased') commands.push(sent / requests);
      return rate;
    };
    contenders.push({ name: kind === 'leased' ? 'ours' : '404 at once', measure });
  }
  const result = await Comparison.run(contenders, pick(5, 1));
  result.reportOthers(report, METRIC);
  result.expectTimes(report, { metric: METRIC, to: '404 at once', atLeast: 0.97 });
  report.figure('ours, the worst round', 'commands for a request', Math.max(...commands));
  report.goal({
    contender: 'ours',
    metric: 'commands for a request',
    value: median(commands),
    ratio: median(commands),
    atMost: 0.01,
    of: 'commands',
  });
};
