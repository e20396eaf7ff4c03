import 'reflect-metadata';
import { Controller, type ExecutionContext, Get, Injectable, Param, UseInterceptors } from '@nestjs/common';
import { APP_GUARD, APP_INTERCEPTOR } from '@nestjs/core';
import { SkipThrottle, Throttle, ThrottlerModule } from '@nestjs/throttler';
import {
  type BloomAttackOptions,
  type BloomEvent,
  BloomGuarded,
  BloomInterceptor,
  BloomModule,
  BloomService,
  clientAddress,
} from 'nestjs-bloom';
import { BloomTestingModule } from 'nestjs-bloom/testing';
import { forkedOptions } from '../../../test/support/forked-program.js';
import { type Platform, startApp } from '../../../test/support/nest-app.js';
import { BloomThrottlerGuard, type BloomThrottlerOptions } from '../src/index.js';

/** Tests of this program. */
export interface ThrottledShopOptions {
  readonly platform: Platform;
  /** How clients are named; `none`: they are not counted. Default: by the header `x-client`. */
  readonly client?: 'header' | 'address' | 'failing' | 'none';
  readonly attack?: BloomAttackOptions;
  readonly guard?: BloomThrottlerOptions;
  readonly shadow?: boolean;
  readonly throttlers?: Parameters<typeof ThrottlerModule.forRoot>[0];
  readonly trustsProxy?: boolean;
  /** Whether `BloomTestingModule` stands in for the module. */
  readonly isOfTest?: boolean;
}

/** What it sends once; then it answers every message with `ThrottledShopState`. */
export type ThrottledShopStart = { readonly url: string } | { readonly refusal: string };

export interface ThrottledShopState {
  /** Ids of which the guarded methods were called, since it was asked last. */
  readonly called: readonly string[];
  readonly worst: readonly unknown[];
  readonly events: readonly BloomEvent[];
}

const called: string[] = [];
const events: BloomEvent[] = [];

@Injectable()
class Repository {
  @BloomGuarded('products', { onAbsent: 'not-found' })
  async find(id: string): Promise<{ id: string }> {
    called.push(id);
    return { id };
  }
}

@Controller()
class Shop {
  constructor(private readonly repository: Repository) {}

  @Get('checked-first/:id')
  @UseInterceptors(BloomInterceptor)
  @BloomGuarded('products')
  async checkedFirst(@Param('id') id: string): Promise<{ id: string }> {
    called.push(id);
    return { id };
  }

  @Get('guarded/:id')
  @BloomGuarded('products')
  async guarded(@Param('id') id: string): Promise<{ id: string }> {
    called.push(id);
    return { id };
  }

  @Get('repository/:id')
  async fromRepository(@Param('id') id: string): Promise<{ id: string }> {
    return this.repository.find(id);
  }

  @Get('strict/:id')
  @Throttle({ bloom: { limit: 2, ttl: 30_000 } })
  @BloomGuarded('products')
  async strict(@Param('id') id: string): Promise<{ id: string }> {
    called.push(id);
    return { id };
  }

  @Get('health')
  @SkipThrottle({ bloom: true })
  health(): string {
    return 'ok';
  }
}

const CLIENTS = {
  header: (context: ExecutionContext) =>
    context.switchToHttp().getRequest<{ headers: Record<string, string> }>().headers['x-client'],
  address: clientAddress,
  failing: () => {
    throw new Error('There is no header.');
  },
};

const {
  platform,
  client = 'header',
  guard,
  shadow = false,
  ...options
} = forkedOptions<ThrottledShopOptions>();

function bloom() {
  if (options.isOfTest) return BloomTestingModule.of({ products: ['here'] });
  return BloomModule.forRoot({
    filters: [{ name: 'products', capacity: 1_000, shadow, create: 'first-start', audit: false }],
    attack: { ...options.attack, ...(client !== 'none' && { client: CLIENTS[client] }) },
    logger: false,
    onEvent: (event) => events.push(event),
  });
}

try {
  const app = await startApp(
    platform,
    {
      imports: [bloom(), ThrottlerModule.forRoot(options.throttlers ?? [])],
      controllers: [Shop],
      providers: [
        Repository,
        { provide: APP_GUARD, useClass: guard ? BloomThrottlerGuard.of(guard) : BloomThrottlerGuard },
        { provide: APP_INTERCEPTOR, useClass: BloomInterceptor },
      ],
    },
    (nest) => {
      if (options.trustsProxy) nest.getHttpAdapter().getInstance().set('trust proxy', 'loopback');
    },
  );
  const service = app.app.get(BloomService);
  if (!options.isOfTest) await service.filter('products').add('here');
  process.on('message', () =>
    process.send!({ called: called.splice(0), events, worst: service.worstClients('products') }),
  );
  process.send!({ url: await app.app.getUrl() });
} catch (error) {
  process.send!({ refusal: String(error) });
}
