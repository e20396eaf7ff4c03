import { Injectable, Logger, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { BloomGuarded, BloomModule, BloomService } from '../src/index.js';
import { GuardState, type ManagedFilter } from '../src/service/index.js';
import { assert, type BenchContext } from './harness.js';
import { idText, somePresent } from './ids.js';
import { clientOf, openFilter, untilReplicaAnswers } from './redis-bench.js';

// Calls a guarded method, with the counting of the library or with none: a process of its own for each, as
// the engine compiles code for the objects that it has met.
const [url, mode, ids, calls] = process.argv.slice(2) as [string, 'counted' | 'uncounted', string, string];
const works: (() => unknown)[] = [];
const context: Pick<BenchContext, 'cleanUp'> = { cleanUp: (work) => void works.unshift(work) };

class UncountedGuards extends GuardState {
  override record(): void {}
}

@Injectable()
class Products {
  readonly row = { id: 'x' };

  @BloomGuarded('products')
  async guarded(id: string): Promise<object | null> {
    return id === '' ? null : this.row;
  }
}

async function filterOf(service: BloomService): Promise<ManagedFilter> {
  const options = {
    capacity: Number(ids),
    replica: 'verified',
    source: { async *ids() {} },
    audit: false,
  } as const;
  const filter = await openFilter(url, options, context, mode === 'counted');
  if (mode === 'uncounted') {
    const guarding = new UncountedGuards({ ...filter.definition, negativeCache: false });
    Object.assign(filter, { guarding });
  }
  service.register(filter);
  return filter;
}

@Module({
  imports: [BloomModule.forRoot()],
  providers: [Products, { provide: 'filter', inject: [BloomService], useFactory: filterOf }],
})
class App {}

Logger.overrideLogger(false);
const app = await NestFactory.createApplicationContext(App, { logger: false });
const products = app.get(Products);
const asked = somePresent(Number(calls), Number(ids));
await untilReplicaAnswers(clientOf(url, context as BenchContext), () => products.guarded(idText('prod', 1)));
assert((await products.guarded('none')) === null, 'an absent id to be answered without the method');

/** Calls in a second of this process's own time: other work of the machine counts as little as can be. */
async function measure(): Promise<number> {
  globalThis.gc?.();
  const before = process.cpuUsage();
  for (const id of asked) await products.guarded(id);
  const { user, system } = process.cpuUsage(before);
  return (asked.length * 1e6) / (user + system);
}

process.on('message', (message) => {
  const { guards, lookups } = app.get(BloomService).metrics()[0]!;
  if (message === 'counts') process.send!({ maybe: guards.maybe, local: lookups.local });
  else void measure().then((rate) => process.send!(rate));
});
process.on('disconnect', () => process.exit());
process.send!('ready');
