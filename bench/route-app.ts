import {
  Controller,
  Get,
  Logger,
  Module,
  NotFoundException,
  Param,
  type Type,
  UseInterceptors,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { BloomGuarded, BloomInterceptor, BloomModule, BloomService } from '../src/index.js';
import { sourceOf, untilLeased } from './redis-bench.js';

// An application with one route: plain, guarded, unguarded in an application that imports the module, guarded
// with a leased copy, or one that throws a 404 at once. Of Express where its name says so, else of Fastify.
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
  async findOne(): Promise<object> {
    throw new NotFoundException();
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

@Controller('products')
@UseInterceptors(BloomInterceptor)
class EarlyController {
  @Get(':id')
  @BloomGuarded('products', { early: true })
  async findOne(@Param('id') id: string): Promise<object> {
    if (!id.startsWith('prod')) throw new NotFoundException();
    return { ...row, id };
  }
}

const CONTROLLERS: Readonly<Record<string, Type<unknown>>> = {
  guarded: GuardedController,
  leased: LeasedController,
  '404': NotFoundController,
  'express 404': NotFoundController,
  'express early': EarlyController,
  'fastify 404': NotFoundController,
  'fastify early': EarlyController,
};
const isWithModule = kind !== 'plain' && !kind.endsWith('404');
const isExpress = kind.startsWith('express');
const isAbsent = isExpress || kind.startsWith('fastify');
const isLeased = kind === 'leased' || isAbsent;

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
        ...((kind === 'guarded' || isAbsent) && { audit: false as const }),
        ...(isLeased && { replica: 'leased' as const }),
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
  isExpress ? new ExpressAdapter() : new FastifyAdapter(),
  { logger: false },
);
await app.listen(0, '127.0.0.1');
if (isWithModule) {
  const filter = app.get(BloomService).filter('products');
  // One of several builds what all of them read.
  if (process.argv[5] !== 'built') await filter.rebuild();
  if (isLeased) await untilLeased(filter);
}
process.on('disconnect', () => process.exit());
process.send!({ url: (await app.getUrl()).replace('[::1]', '127.0.0.1') });
