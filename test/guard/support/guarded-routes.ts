import type { Provider, Type } from '@nestjs/common';
import type { BloomEvent, BloomGuardDefaults } from 'nestjs-bloom';
import { type Platform, type RunningApp, startApp } from '../../support/nest-app.js';
import { testBloom } from './test-bloom.js';
import { TestFilter } from './test-filter.js';

export const NOT_FOUND = { status: 404, body: { statusCode: 404, message: 'Not Found' } };

export interface RouteOptions {
  readonly providers?: readonly Provider[];
  /** Filters beside `products`. */
  readonly others?: readonly TestFilter[];
  readonly defaults?: BloomGuardDefaults;
  readonly prepare?: Parameters<typeof startApp>[2];
}

/** An application of routes that one test guards, with a filter `products`. */
export class GuardedRoutes {
  readonly products = new TestFilter('products', ['A-1', 7, 'B 2/ü']);
  readonly events: BloomEvent[] = [];
  private app: RunningApp | undefined;

  constructor(private readonly platform: Platform) {}

  async start(
    controllers: Type | readonly Type[],
    { providers = [], others = [], defaults, prepare }: RouteOptions = {},
  ): Promise<RunningApp> {
    const { products, events } = this;
    const metadata = {
      imports: [testBloom({ filters: [products, ...others], events, ...(defaults && { defaults }) })],
      controllers: [controllers].flat() as Type[],
      providers: [...providers],
    };
    this.app = await startApp(this.platform, metadata, prepare);
    return this.app;
  }

  async close(): Promise<void> {
    await this.app?.close();
  }
}
