import { Controller, Get, Logger, Module, NotFoundException, Param, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { BloomGuarded, BloomModule, BloomService } from '../src/index.js';
import { sourceOf, untilLeased } from './redis-bench.js';

// A Fastify application with one route: plain, guarded, unguarded in an application that imports the module,
// guarded with a leased copy, or one that throws a 404 at once.
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

@Controller('products')
class NotFoundController {
  @Get(':id')
  async findOne(@Param('id') id: string): Promise<object> {
    throw new NotFoundException(`No product ${id}.`);
  }
}

@Controller('products')
class LeasedController {
  @Get(':id')
  @BloomGuarded('products')
  async findOne(@Param('id') id: string): Promise<object> {
    if (!id.startsWith('prod')) throw new NotFoundException();
    return { ...row, id };
  }
}

const CONTROLLERS: Readonly<Record<string, Type<unknown>>> = {
  guarded: GuardedController,
  leased: LeasedController,
  '404': NotFoundController,
};
const isWithModule = kind !== 'plain' && kind !== '404';

function bloom() {
  const rebuild = { onBoot: 'never', drainMs: 0 } as const;
  return BloomModule.forRoot({
    redis: url,
    timeoutMs: 5000,
    filters: [
      {
        name: 'products',
        capacity: ids,
        source: sourceOf(ids),
        rebuild,
        // Its route finds something for each id.
        ...(kind === 'guarded' && { audit: false as const }),
        ...(kind === 'leased' && { replica: 'leased' as const }),
      },
    ],
  });
}

function module(controller: Type<unknown>, imports: ReturnType<typeof bloom>[]): Type<unknown> {
  @Module({ imports, controllers: [controller] })
  class App {}
  return App;
}

Logger.overrideLogger(false);
const app = await NestFactory.create(
  module(CONTROLLERS[kind] ?? PlainController, isWithModule ? [bloom()] : []),
  new FastifyAdapter(),
  { logger: false },
);
await app.listen(0, '127.0.0.1');
if (isWithModule) {
  const filter = app.get(BloomService).filter('products');
  // One of several builds what all of them read.
  if (process.argv[5] !== 'built') await filter.rebuild();
  if (kind === 'leased') await untilLeased(filter);
}
process.on('disconnect', () => process.exit());
process.send!({ url: (await app.getUrl()).replace('[::1]', '127.0.0.1') });
