import { assert, type Bench, Comparison, type Contender } from './harness.js';
import { somePresent } from './ids.js';
import { requestsPerSecond } from './load.js';
import { OtherProcess } from './other-process.js';
import { redisBench, untilReplicaAnswers } from './redis-bench.js';

const METRIC = 'requests/s';
const KINDS = ['plain', 'guarded', 'imports the module'] as const;

export const bench: Bench = async (context) => {
  const { report, pick } = context;
  const ids = pick(1_000_000, 20_000);
  const { url, client } = await redisBench(context);
  const paths = somePresent(1000, ids).map((id) => `/products/${id}`);
  const contenders: Contender[] = [];
  for (const kind of KINDS) {
    const app = OtherProcess.start('route-app.ts', [kind, url, String(ids)], context);
    const { url: address } = await app.answer<{ url: string }>();
    const absent = await fetch(`${address}/products/none-1`);
    assert(
      (absent.status === 404) === (kind === 'guarded'),
      `the app '${kind}' to deny what it guards alone`,
    );
    if (kind === 'guarded') await untilReplicaAnswers(client, () => fetch(`${address}${paths[0]}`));
    let next = 0;
    const load = { nextPath: () => paths[next++ % paths.length]!, seconds: pick(3, 1), status: 200 };
    contenders.push({ name: kind, measure: async () => (await requestsPerSecond(address, load)).rate });
  }
  const result = await Comparison.run(contenders, pick(5, 1));
  result.reportOthers(report, METRIC, ['guarded', 'imports the module']);
  for (const ours of ['guarded', 'imports the module'])
    result.expectTimes(report, { ours, metric: METRIC, to: 'plain', atLeast: 0.97 });
};
