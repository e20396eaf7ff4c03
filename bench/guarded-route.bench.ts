import { assert, type Bench, Comparison, type Contender } from './harness.js';
import { somePresent } from './ids.js';
import { requestsPerSecond } from './load.js';
import { OtherProcess } from './other-process.js';
import { redisBench, untilReplicaAnswers } from './redis-bench.js';

const METRIC = 'requests/s';
const KINDS = ['plain', 'guarded', 'imports the module'] as const;
const PLATFORMS = ['express', 'fastify'] as const;
/** Routes that answer absent ids: one throws a 404, one is guarded, one with `early`. */
const ABSENT_KINDS = PLATFORMS.flatMap((platform) =>
  ['404', 'guarded', 'early'].map((kind) => `${platform} ${kind}`),
);

const NOT_FOUND = '{"message":"Not Found","statusCode":404}';

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
    for (const kind of [...KINDS, ...ABSENT_KINDS]) {
      const isAbsent = ABSENT_KINDS.includes(kind);
      const words = [kind, url, String(ids), ...(set > 0 || isAbsent ? ['built'] : [])];
      const app = OtherProcess.start('route-app.ts', words, context);
      apps.push(app);
      const { url: address } = await app.answer<{ url: string }>();
      if (kind === 'guarded') await untilReplicaAnswers(client, () => fetch(`${address}${paths[0]}`));
      const absent = await fetch(`${address}/products/none-1`);
      assert(
        (absent.status === 404) === (kind === 'guarded' || isAbsent),
        `the app '${kind}' to deny what it guards alone`,
      );
      const body = await absent.text();
      assert(!isAbsent || body === NOT_FOUND, `the app '${kind}' to answer as the route does, got ${body}`);
      let next = 0;
      const nextPath = isAbsent ? () => `/products/none-${next++}` : () => paths[next++ % paths.length]!;
      const load = { nextPath, seconds: pick(3, 1), status: isAbsent ? 404 : 200 };
      contenders.push({ name: kind, measure: async () => (await requestsPerSecond(address, load)).rate });
    }
    rounds.push(await Comparison.run(contenders, pick(3, 1)));
    for (const app of apps) await app.ended();
  }
  const result = Comparison.joined(rounds);
  result.reportOthers(report, METRIC, [
    'guarded',
    'imports the module',
    ...PLATFORMS.map((platform) => `${platform} early`),
  ]);
  for (const ours of ['guarded', 'imports the module'])
    result.expectTimes(report, { ours, metric: METRIC, to: 'plain', atLeast: 0.97 });
  for (const platform of PLATFORMS) {
    const to = `${platform} 404`;
    result.expectTimes(report, { ours: `${platform} early`, metric: METRIC, to, atLeast: 1.5 });
  }
};
