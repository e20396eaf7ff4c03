import 'reflect-metadata';
import assert from 'node:assert/strict';
import { Controller, Get, type INestApplication, Module, Param } from '@nestjs/common';
import { APP_GUARD, APP_INTERCEPTOR } from '@nestjs/core';
import { ThrottlerModule } from '@nestjs/throttler';
import { BloomThrottlerGuard } from '@nestjs-bloom/throttler';
import { BloomGuarded, BloomInterceptor, BloomModule, BloomService, clientAddress } from 'nestjs-bloom';

@Controller('products')
class ProductController {
  @Get(':sku')
  @BloomGuarded('products')
  async show(@Param('sku') sku: string): Promise<{ sku: string }> {
    return { sku };
  }
}

/** A shop that refuses clients which ask for three absent ids. */
@Module({
  imports: [
    BloomModule.forRoot({
      filters: [{ name: 'products', capacity: 1_000, errorRate: 1e-6, create: 'first-start', audit: false }],
      attack: { client: clientAddress },
    }),
    ThrottlerModule.forRoot([]),
  ],
  controllers: [ProductController],
  providers: [
    { provide: APP_GUARD, useClass: BloomThrottlerGuard.of({ limit: 3 }) },
    { provide: APP_INTERCEPTOR, useClass: BloomInterceptor },
  ],
})
export class ThrottledModule {}

export async function checkThrottled(app: INestApplication): Promise<void> {
  await app.listen(0, '127.0.0.1');
  const url = `${await app.getUrl()}/products`;
  for (const sku of ['D-1', 'D-2', 'D-3']) assert.equal((await fetch(`${url}/${sku}`)).status, 404);
  const { status, headers } = await fetch(`${url}/D-4`);
  assert.equal(status, 429);
  assert.equal(headers.get('retry-after'), '60');
  assert.deepEqual(app.get(BloomService).worstClients('products'), [
    { client: '127.0.0.1', absents: 3, error: 0 },
  ]);
  await app.close();
}

/** Platforms of the programs that run it, one each. */
export function failed(error: unknown): void {
  console.error(error);
  process.exitCode = 1;
}
