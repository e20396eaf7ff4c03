import 'reflect-metadata';
import { Test } from '@nestjs/testing';
import { BloomModule, BloomService } from 'nestjs-bloom';
import { BloomTestingModule } from 'nestjs-bloom/testing';
import { describe, expect, it } from 'vitest';
import { ProductRepository } from './product.repository.js';

describe('ProductRepository', () => {
  it('answers an absent id without a lookup', async () => {
    const module = await Test.createTestingModule({
      imports: [BloomTestingModule.of({ products: ['mug'] })],
      providers: [ProductRepository],
    }).compile();
    const repository = module.get(ProductRepository);
    expect(await repository.findBySku('mug')).toEqual({ sku: 'mug' });
    expect(await repository.findBySku('cup')).toBeNull();
    expect(repository.lookups).toBe(1);
    await repository.create({ sku: 'cup' });
    expect(await repository.findBySku('cup')).toEqual({ sku: 'cup' });
    await module.close();
  });

  it('runs on the module of the application', async () => {
    const source = {
      async *ids() {
        yield ['mug'];
      },
    };
    const module = await Test.createTestingModule({
      imports: [
        BloomModule.forRoot(),
        BloomModule.forFeature({ name: 'products', capacity: 1000, source, audit: false }),
      ],
      providers: [ProductRepository],
    }).compile();
    await module.init();
    await module.get(BloomService).whenReady({ timeoutMs: 10_000 });
    const repository = module.get(ProductRepository);
    expect(await repository.isKnown('mug')).toBe(true);
    expect(await repository.findBySku('cup')).toBeNull();
    expect(repository.lookups).toBe(0);
    await module.close();
  });
});
