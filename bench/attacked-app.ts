import { CACHE_MANAGER, type Cache, CacheModule } from '@nestjs/cache-manager';
import {
  Controller,
  Get,
  Inject,
  Injectable,
  Logger,
  Module,
  NotFoundException,
  Param,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { BloomGuarded, BloomModule, BloomService } from '../src/index.js';
import { type BenchDatabase, openDatabase } from './bench-database.js';
import { sourceOf } from './redis-bench.js';

// A Fastify application with a cache and a database behind its route: unguarded, with cached nulls, guarded;
// or none.
const [kind, redis, products, postgres] = [
  process.argv[2]!,
  process.argv[3]!,
  Number(process.argv[4]),
  process.argv[5],
];
const LIFE_MS = 60_000;
const NOBODY = 'no such product';
const database: BenchDatabase = await openDatabase(products, postgres || undefined);

@Injectable()
class Products {
  constructor(@Inject(CACHE_MANAGER) private readonly cache: Cache) {}

  async find(id: string): Promise<object> {
    const cached = await this.cache.get<object | string>(id);
    if (cached === NOBODY) throw new NotFoundException();
    if (cached !== undefined && cached !== null) return cached as object;
    const row = await database.find(id);
    if (row) await this.cache.set(id, row, LIFE_MS);
    else if (kind === 'cached null') await this.cache.set(id, NOBODY, LIFE_MS);
    if (!row) throw new NotFoundException();
    return row;
  }
}

@Controller('products')
class PlainController {
  constructor(private readonly products: Products) {}

  @Get(':id')
  async findOne(@Param('id') id: string): Promise<object> {
    return this.products.find(id);
  }
}

@Controller('products')
class GuardedController {
  constructor(private readonly products: Products) {}

  @Get(':id')
  @BloomGuarded('products')
  async findOne(@Param('id') id: string): Promise<object> {
    return this.products.find(id);
  }
}

/** What the HTTP stack allows at best: nothing behind the route. */
@Controller('products')
class EmptyController {
  @Get(':id')
  async findOne(@Param('id') id: string): Promise<object> {
    if (id.startsWith('prod')) return { id };
    throw new NotFoundException();
  }
}

const controllers = { guarded: GuardedController, '404 at once': EmptyController };
const filter = {
  name: 'products',
  capacity: products,
  errorRate: 0.001,
  source: sourceOf(products),
  rebuild: { onBoot: 'never', drainMs: 0 },
} as const;
const bloom = kind === 'guarded' ? [BloomModule.forRoot({ redis, timeoutMs: 5000, filters: [filter] })] : [];

@Module({
  imports: [CacheModule.register(), ...bloom],
  providers: [Products],
  controllers: [controllers[kind as keyof typeof controllers] ?? PlainController],
})
class App {}

Logger.overrideLogger(false);
const app = await NestFactory.create(App, new FastifyAdapter(), { logger: false });
await app.listen(0, '127.0.0.1');
if (kind === 'guarded') await app.get(BloomService).filter('products').rebuild();
process.on('message', () => process.send!({ queries: database.queries }));
process.on('disconnect', () => process.exit());
process.send!({ url: (await app.getUrl()).replace('[::1]', '127.0.0.1') });
