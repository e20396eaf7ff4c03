// Prints the functions of this package that a guarded call enters on its way, in order. Run with: npm run
// frames
import { createHook } from 'node:async_hooks';
import { register } from 'node:module';
import { setTimeout as delay } from 'node:timers/promises';
import { Injectable, Logger, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { BloomFilter } from '../src/service/index.js';
import type { BloomReplicaMode } from '../src/store/index.js';
import { startRedis } from '../test/support/redis-server.js';

/** The goals, in frames. */
const GOALS = { confirmed: 35, local: 15, leased: 25 };
/** A guard lets its first absent ids through, and an absent id may pass at the error rate. */
const WARM_UP = 40;
/** The shortest of so many calls: others may meet a timer, or a lookup that is timed. */
const CALLS = 20;

register('./frames-hook.mjs', import.meta.url);
const { BloomGuarded, BloomModule, BloomService } = await import('../src/index.js');

interface Way {
  readonly frames: readonly string[];
  readonly promises: number;
}

let frames: string[] | undefined;
let promises = 0;
const hook = createHook({
  init(_, type) {
    if (type === 'PROMISE' && frames) promises++;
  },
});
Object.assign(globalThis, {
  enterFrame(name: string): void {
    if (!frames) return;
    const lines = new Error().stack!.split('\n');
    const callers = lines.filter((line) => line.includes('/src/') && !line.includes('at async'));
    frames.push('  '.repeat(callers.length - 1) + name);
  },
});
Error.stackTraceLimit = 100;
Logger.overrideLogger(false);

@Injectable()
class Products {
  onFind = () => {};

  @BloomGuarded('products')
  async find(id: string): Promise<object | null> {
    this.onFind();
    return id.startsWith('none') ? null : { id };
  }
}

async function waysOf(replica: BloomReplicaMode): Promise<{ absent: Way; local: Way }> {
  const server = await startRedis();
  const source = {
    async *ids() {
      yield Array.from({ length: 1000 }, (_, i) => `product-${i}`);
    },
  };
  const rebuild = { onBoot: 'never', drainMs: 0 } as const;
  const filters = [{ name: 'products', capacity: 1000, replica, source, rebuild }];

  @Module({ imports: [BloomModule.forRoot({ redis: server.url, filters })], providers: [Products] })
  class App {}

  const app = await NestFactory.createApplicationContext(App, { logger: false });
  try {
    const products = app.get(Products);
    const filter = app.get(BloomService).filter('products');
    await filter.rebuild();
    for (let i = 0; i < WARM_UP; i++) await products.find(`none-${i}`);
    await untilCopied(filter, replica);
    return {
      absent: await shortest(products, (i) => `none-${i}`, false),
      local: await shortest(products, (i) => `product-${i}`, true),
    };
  } finally {
    await app.close();
    await server.stop();
  }
}

/** Waits until the process has a copy of the filter, and its lease. */
async function untilCopied(filter: BloomFilter, replica: BloomReplicaMode): Promise<void> {
  for (let attempt = 0; attempt < 600; attempt++) {
    await filter.check('product-1');
    const { copyLease } = await filter.info();
    if (attempt > 20 && (replica === 'verified' || copyLease?.isLeased)) return;
    await delay(50);
  }
  throw new Error('Expected the copy of the filter to be leased within thirty seconds.');
}

/** @param reaches whether the call reaches the method, which ends its way. */
async function shortest(products: Products, idOf: (i: number) => string, reaches: boolean): Promise<Way> {
  const ways: Way[] = [];
  for (let i = 100; i < 100 + CALLS; i++) {
    let isReached = false;
    let way: Way | undefined;
    const end = () => {
      way ??= { frames: frames ?? [], promises };
      frames = undefined;
    };
    products.onFind = () => {
      isReached = true;
      end();
    };
    frames = [];
    promises = 0;
    hook.enable();
    await products.find(idOf(i));
    end();
    hook.disable();
    if (isReached === reaches) ways.push(way!);
  }
  ways.sort((one, other) => one.frames.length - other.frames.length);
  if (ways.length === 0)
    throw new Error(`Expected a call that ${reaches ? 'reaches' : 'does not reach'} its method.`);
  return ways[0]!;
}

/**
 * The arithmetic of a layout and what a function calls a second time are printed, and count in the total
 * alone.
 */
function print(title: string, { frames: way, promises: made }: Way, goal: number): void {
  process.stdout.write(`${title}\n${way.map((frame) => `  ${frame}\n`).join('')}`);
  const counted = new Set(way.map((frame) => frame.trim()).filter((frame) => !/ {2}filter\//.test(frame)));
  process.stdout.write(
    `${counted.size} frames (goal: ${goal}); ${way.length} with those that repeat and those of filter/; ${made} promises\n\n`,
  );
}

const verified = await waysOf('verified');
const leased = await waysOf('leased');
print('An absent id, which the store confirms, to the answer', verified.absent, GOALS.confirmed);
print('An id that may be in the local copy, to the method', verified.local, GOALS.local);
print('An absent id of a leased copy, to the answer', leased.absent, GOALS.leased);
