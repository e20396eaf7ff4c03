import { Controller, Get, Logger, Module, NotFoundException, Param } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { BloomGuarded, BloomModule, type BloomReplicaMode, BloomService } from '../src/index.js';
import { idText } from './ids.js';
import { sourceOf } from './redis-bench.js';

// An instance of an application under attack, with the options that it has by default, but for `replica`.
// Each message is for how many seconds it is to be attacked.
const [redis, products, number] = [process.argv[2]!, Number(process.argv[3]), Number(process.argv[4])];
const replica = process.argv[5] as BloomReplicaMode;

export interface AttackSeen {
  readonly calls: number;
  readonly queries: number;
  /** Lookups that were `unknown`, by their reason. */
  readonly unknown: Readonly<Record<string, number>>;
}

/** Calls under way at once. */
const CALLERS = 64;
let queries = 0;

@Controller('products')
class Products {
  @Get(':id')
  @BloomGuarded('products', { onAbsent: 'null' })
  async find(@Param('id') id: string): Promise<object | null> {
    queries++;
    // So long does a small query take.
    await new Promise((resolve) => setTimeout(resolve, 1));
    if (id.startsWith('prod')) return { id };
    throw new NotFoundException();
  }
}

const filter = {
  name: 'products',
  capacity: products,
  errorRate: 0.001,
  replica,
  source: sourceOf(products),
  rebuild: { onBoot: 'never', drainMs: 0 },
} as const;

@Module({ imports: [BloomModule.forRoot({ redis, filters: [filter] })], controllers: [Products] })
class App {}

Logger.overrideLogger(false);
const app = await NestFactory.createApplicationContext(App, { logger: false });
const bloom = app.get(BloomService);
const shop = app.get(Products);
let next = number * 1e9;

async function attackFor(seconds: number): Promise<AttackSeen> {
  const queriesBefore = queries;
  const unknownBefore = unknownCounts();
  const endsAt = performance.now() + 1000 * seconds;
  let calls = 0;
  const attack = async () => {
    while (performance.now() < endsAt) {
      calls++;
      await shop.find(idText('none', next++)).catch(() => {});
      // A socket is read between two calls, as between two requests.
      await new Promise(setImmediate);
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, attack));
  const unknown = Object.entries(unknownCounts()).map(([reason, count]) => [
    reason,
    count - (unknownBefore[reason] ?? 0),
  ]);
  return { calls, queries: queries - queriesBefore, unknown: Object.fromEntries(unknown) };
}

/** Once this process answers as it will: with `leased`, from its own copy. */
async function ready(): Promise<object> {
  while (replica === 'leased' && !bloom.metrics()[0]!.copyLease?.isLeased) {
    await bloom.filter('products').check('none');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return {};
}

function unknownCounts(): Readonly<Record<string, number>> {
  return bloom.metrics()[0]!.lookups.unknown;
}

process.on('message', (message) => {
  const build = () => bloom.filter('products').rebuild();
  const work = message === 'build' ? build() : message === 'ready' ? ready() : attackFor(Number(message));
  void work.then((answer) => process.send!(answer));
});
process.on('disconnect', () => process.exit());
process.send!({});
