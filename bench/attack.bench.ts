import { assert, type Bench, type BenchContext, Comparison, type Contender } from './harness.js';
import { idText } from './ids.js';
import { requestsPerSecond } from './load.js';
import { OtherProcess } from './other-process.js';
import { startPostgres } from './postgres-server.js';
import { redisBench } from './redis-bench.js';

const PRODUCTS = 20_000;
const ERROR_RATE = 0.001;
/** Share of the answers "absent" that the guard compares with the database by default. */
const AUDITED = 0.001;
const KINDS = ['unguarded', 'cached null', 'guarded', '404 at once'] as const;

export const bench: Bench = async (context) => {
  await attack('PGlite', undefined, 5, context);
  const url = process.env.BLOOM_BENCH_POSTGRES_URL ?? (await startPostgres(context));
  if (url) await attack('Postgres', url, 2.5, context);
  else context.skip('Postgres', 'initdb and postgres are neither in /usr/lib/postgresql nor on the PATH');
};

async function attack(
  database: string,
  postgres: string | undefined,
  atLeast: number,
  context: BenchContext,
): Promise<void> {
  const { report, pick } = context;
  const { url: redis } = await redisBench(context);
  const metric = `requests/s, ${database}`;
  // Never the same id twice, so that nothing that was remembered of one helps.
  let next = 0;
  const seen = { requests: 0, queries: 0 };
  const contenders: Contender[] = [];
  for (const kind of KINDS) {
    const app = OtherProcess.start(
      'attacked-app.ts',
      [kind, redis, String(PRODUCTS), postgres ?? ''],
      context,
    );
    const { url } = await app.answer<{ url: string }>();
    assert(
      (await fetch(`${url}/products/${idText('prod', 7)}`)).status === 200,
      `'${kind}' to serve products`,
    );
    assert((await fetch(`${url}/products/no`)).status === 404, `'${kind}' to deny what is not there`);
    const measure = async () => {
      const queriesBefore = (await app.ask<{ queries: number }>('queries')).queries;
      const load = {
        nextPath: () => `/products/${idText('none', next++)}`,
        seconds: pick(4, 1),
        status: 404,
      };
      const { rate, requests } = await requestsPerSecond(url, load);
      if (kind === 'guarded') {
        seen.requests += requests;
        seen.queries += (await app.ask<{ queries: number }>('queries')).queries - queriesBefore;
      }
      return rate;
    };
    contenders.push({ name: kind, measure });
  }
  const result = await Comparison.run(contenders, pick(3, 1));
  result.reportOthers(report, metric, ['guarded']);
  result.expectTimes(report, { ours: 'guarded', metric, to: 'unguarded', atLeast });
  result.expectTimes(report, { ours: 'guarded', metric, to: 'cached null', atLeast: 2 });
  report.goal({
    contender: 'guarded',
    metric: `queries for ${seen.requests} requests, ${database}`,
    value: seen.queries,
    ratio: seen.queries / ((ERROR_RATE + AUDITED) * seen.requests),
    atMost: 1.2,
    of: '× (error rate + audited share) × requests',
  });
}
