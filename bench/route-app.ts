import { Controller, Get, Logger, Module, Param, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { BloomGuarded, BloomModule, BloomService } from '../src/index.js';
import { sourceOf } from './redis-bench.js';

// A Fastify application with one route: plain, guarded, or unguarded in an application that imports the module.
const [kind, url, ids] = [process.argv[2]!, process.argv[3]!, Number(process.argv[4])];
const row = { name: 'with a name', price: 12.5 };

@Controller('products')
class PlainController {
  @Get(':id')
  async findOne(@Param('id') id: string): Promise<object> {
    return { ...row, id };
  }
}

@Controller('products')
class GuardedController {
  @Get(':id')
  @BloomGuarded('products')
  async findOne(@Param('id') id: string): Promise<object> {
    return { ...row, id };
  }
}

function bloom() {
  const rebuild = { onBoot: 'never', drainMs: 0 } as const;
  return BloomModule.forRoot({
    redis: url,
    timeoutMs: 5000,
    filters: [{ name: 'products', capacity: ids, source: sourceOf(ids), rebuild }],
  });
}

function module(controller: Type<unknown>, imports: ReturnType<typeof bloom>[]): Type<unknown> {
  @Module({ imports, controllers: [controller] })
  class App {}
  return App;
}

Logger.overrideLogger(false);
const app = await NestFactory.create(
  kind === 'plain'
    ? module(PlainController, [])
    : module(kind === 'guarded' ? GuardedController : PlainController, [bloom()]),
  new FastifyAdapter(),
  { logger: false },
);
await app.listen(0, '127.0.0.1');
if (kind !== 'plain') await app.get(BloomService).filter('products').rebuild();
process.on('disconnect', () => process.exit());
process.send!({ url: (await app.getUrl()).replace('[::1]', '127.0.0.1') });
