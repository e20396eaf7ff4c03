import { Injectable, Logger, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { BloomGuarded, BloomModule, BloomService } from '../src/index.js';
import { assert, type Bench, type BenchContext, Comparison, rate } from './harness.js';
import { idText, idTexts, somePresent } from './ids.js';
import { redisBench, sourceOf, untilLeased, untilReplicaAnswers } from './redis-bench.js';

const METRIC = 'calls/s';

/** What any decorator around an async method costs at least. */
function EmptyWrapper(_: object, __: string, descriptor: PropertyDescriptor): void {
  const method = descriptor.value as (...args: unknown[]) => Promise<unknown>;
  descriptor.value = async function (this: unknown, ...args: unknown[]) {
    return method.apply(this, args);
  };
}

@Injectable()
class Products {
  readonly row = { id: 'x' };

  async plain(id: string): Promise<object | null> {
    return id.startsWith('none') ? null : this.row;
  }

  @EmptyWrapper
  async wrapped(id: string): Promise<object | null> {
    return id.startsWith('none') ? null : this.row;
  }

  @BloomGuarded('products')
  async guarded(id: string): Promise<object | null> {
    return id.startsWith('none') ? null : this.row;
  }
}

export const bench: Bench = async (context) => {
  const { pick } = context;
  Logger.overrideLogger(false);
  const ids = pick(1_000_000, 20_000);
  const { url, client } = await redisBench(context);
  const { products, filter, saved } = await start(url, ids, 'verified', context);
  await filter.rebuild();
  const asked = somePresent(pick(100_000, 2000), ids);
  // The first absent ids of a guard reach its method, to be compared, and one may pass at the error rate.
  for (const id of idTexts('none', 40)) await products.guarded(id);
  assert(saved() >= 18, 'absent ids to be answered without the method');
  await untilReplicaAnswers(client, () => products.guarded(idText('prod', 1)));
  assert((await products.guarded(asked[0]!)) === products.row, 'an existing id to reach the method');
  await compare(context, products, { asked, ours: 'ours', metric: METRIC });

  const leasing = await redisBench(context);
  const leased = await start(leasing.url, ids, 'leased', context);
  await leased.filter.rebuild();
  await untilLeased(leased.filter);
  const nobody = idTexts('none', asked.length);
  for (const id of nobody.slice(0, 40)) await leased.products.guarded(id);
  assert(leased.saved() >= 18, 'an absent id to be denied from the copy');
  await compare(context, leased.products, {
    asked: nobody,
    ours: 'ours, leased',
    metric: `${METRIC}, absent ids`,
  });
};

async function start(url: string, ids: number, replica: 'verified' | 'leased', context: BenchContext) {
  @Module({
    imports: [
      BloomModule.forRoot({
        redis: url,
        timeoutMs: 5000,
        filters: [
          {
            name: 'products',
            capacity: ids,
            replica,
            source: sourceOf(ids),
            rebuild: { onBoot: 'never', drainMs: 0 },
          },
        ],
      }),
    ],
    providers: [Products],
  })
  class App {}

  const app = await NestFactory.createApplicationContext(App, { logger: false });
  context.cleanUp(() => app.close());
  const bloom = app.get(BloomService);
  const saved = () => bloom.metrics()[0]!.saved;
  return { products: app.get(Products), filter: bloom.filter('products'), saved };
}

async function compare(
  { report, pick }: BenchContext,
  products: Products,
  { asked, ours, metric }: { asked: readonly string[]; ours: string; metric: string },
): Promise<void> {
  const contender = (name: 'plain' | 'wrapped' | 'guarded', label: string) => ({
    name: label,
    measure: () =>
      rate(asked.length, async () => {
        for (const id of asked) await products[name](id);
      }),
  });
  const result = await Comparison.run(
    [contender('plain', 'the method'), contender('wrapped', 'empty wrapper'), contender('guarded', ours)],
    pick(9, 1),
  );
  result.reportOthers(report, metric, [ours]);
  report.goal({
    contender: ours,
    metric,
    value: result.median(ours),
    ratio: result.ratio('empty wrapper', ours),
    atMost: 3,
    of: '× the time of an empty wrapper',
  });
}
