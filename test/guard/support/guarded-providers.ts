import type { Provider } from '@nestjs/common';
import type { TestingModule } from '@nestjs/testing';
import type { BloomEvent, BloomGuardDefaults, BloomId } from 'nestjs-bloom';
import { startContext } from '../../support/nest-app.js';
import { testBloom } from './test-bloom.js';
import { TestFilter } from './test-filter.js';

/** An application of providers that one test guards, with a filter `products`. */
export class GuardedProviders {
  readonly products: TestFilter;
  readonly events: BloomEvent[] = [];
  private context: TestingModule | undefined;

  constructor(ids: readonly BloomId[] = []) {
    this.products = new TestFilter('products', ids);
  }

  async start(
    providers: readonly Provider[],
    { defaults, others = [] }: { defaults?: BloomGuardDefaults; others?: readonly TestFilter[] } = {},
  ): Promise<TestingModule> {
    const { products, events } = this;
    this.context = await startContext({
      imports: [testBloom({ filters: [products, ...others], events, ...(defaults && { defaults }) })],
      providers: [...providers],
    });
    return this.context;
  }

  async close(): Promise<void> {
    await this.context?.close();
    this.context = undefined;
  }
}
