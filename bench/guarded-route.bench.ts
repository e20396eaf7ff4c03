import { assert, type Bench, Comparison, type Contender } from './harness.js';
import { somePresent } from './ids.js';
import { requestsPerSecond } from './load.js';
import { OtherProcess } from './other-process.js';
import { redisBench, untilReplicaAnswers } from './redis-bench.js';

const METRIC = 'requests/s';
const NOT_FOUND = '{"message":"Not Found","statusCode":404}';

/** Applications that are compared with the first one. */
interface Group {
  readonly kinds: readonly [plain: string, ...others: string[]];
  /** What all are asked for: ids that exist, or absent ones, for which each route answers a 404. */
  readonly isAbsent: boolean;
  readonly goals: Readonly<Record<string, number>>;
}

const early = (platform: string): Group => ({
  kinds: [`${platform} 404`, `${platform} early`],
  isAbsent: true,
  goals: { [`${platform} early`]: 1.5 },
});
const GROUPS: readonly Group[] = [
  {
    kinds: ['plain', 'guarded', 'imports the module'],
    isAbsent: false,
    goals: { guarded: 0.97, 'imports the module': 0.97 },
  },
  early('express'),
  early('fastify'),
];

export const bench: Bench = async (context) => {
  const { report, pick } = context;
  const ids = pick(1_000_000, 20_000);
  const { url, client } = await redisBench(context);
  const paths = somePresent(1000, ids).map((id) => `/products/${id}`);
  let isBuilt = false;
  for (const { kinds, isAbsent, goals } of GROUPS) {
    const rounds: Comparison[] = [];
    // Two processes of one program differ by a tenth, by what the compiler made of it: so there are several.
    for (let set = 0; set < pick(3, 1); set++) {
      const contenders: Contender[] = [];
      const apps: OtherProcess[] = [];
      for (const kind of kinds) {
        const app = OtherProcess.start(
          'route-app.ts',
          [kind, url, String(ids), isBuilt ? 'built' : ''],
          context,
        );
        apps.push(app);
        const { url: address } = await app.answer<{ url: string }>();
        isBuilt ||= kind === 'imports the module';
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
    result.reportOthers(report, METRIC, Object.keys(goals));
    for (const [ours, atLeast] of Object.entries(goals))
      result.expectTimes(report, { ours, metric: METRIC, to: kinds[0], atLeast });
  }
};
