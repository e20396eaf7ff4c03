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
  const rounds: Comparison[] = [];
  // Two processes of one program differ by a tenth, by what the compiler made of it: so there are several.
  for (let set = 0; set < pick(3, 1); set++) {
    const contenders: Contender[] = [];
    const apps: OtherProcess[] = [];
    for (const kind of KINDS) {
      const words = [kind, url, String(ids), ...(set > 0 ? ['built'] : [])];
      const app = OtherProcess.start('route-app.ts', words, context);
      apps.push(app);
      const { url: address } = await app.answer<{ url: string }>();
      if (kind === 'guarded') await untilReplicaAnswers(client, () => fetch(`${address}${paths[0]}`));
      const absent = await fetch(`${address}/products/none-1`);
      assert(
        (absent.status === 404) === (kind === 'guarded'),
        `the app '${kind}' to deny what it guards alone`,
      );
      let next = 0;
      const load = { nextPath: () => paths[next++ % paths.length]!, seconds: pick(3, 1), status: 200 };
      contenders.push({ name: kind, measure: async () => (await requestsPerSecond(address, load)).rate });
    }
    rounds.push(await Comparison.run(contenders, pick(3, 1)));
    for (const app of apps) await app.ended();
  }
  const result = Comparison.joined(rounds);
  result.reportOthers(report, METRIC, ['guarded', 'imports the module']);
  for (const ours of ['guarded', 'imports the module'])
    result.expectTimes(report, { ours, metric: METRIC, to: 'plain', atLeast: 0.97 });
};
