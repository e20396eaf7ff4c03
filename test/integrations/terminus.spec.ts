import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { Controller, Get, type INestApplication } from '@nestjs/common';
import { HealthCheck, HealthCheckService, TerminusModule } from '@nestjs/terminus';
import { BloomModule, BloomService } from 'nestjs-bloom';
import { BloomHealthIndicator, type BloomHealthOptions } from '../../src/integrations/terminus/index.js';
import { eventually } from '../support/eventually.js';
import { PLATFORMS, type Platform, type RunningApp, startApp, startContext } from '../support/nest-app.js';
import { products, shop } from './support/shop.js';

let running: RunningApp | undefined;

/** An application whose route `/ready` asks with these options. */
async function startShop(
  options?: BloomHealthOptions,
  platform: Platform = 'express',
): Promise<INestApplication> {
  @Controller()
  class HealthController {
    constructor(
      private readonly health: HealthCheckService,
      private readonly bloom: BloomHealthIndicator,
    ) {}

    @Get('live')
    @HealthCheck()
    live() {
      return this.health.check([() => this.bloom.isAlive('products')]);
    }

    @Get('ready')
    @HealthCheck()
    ready() {
      return this.health.check([() => this.bloom.isHealthy('products', options)]);
    }
  }
  const { imports, providers } = shop();
  running = await startApp(platform, {
    imports: [...imports, TerminusModule.forRoot({ logger: false })],
    controllers: [HealthController],
    providers: [...providers, BloomHealthIndicator],
  });
  return running.app;
}

const rebuild = (app: INestApplication) => app.get(BloomService).filter('products').rebuild();

afterEach(async () => {
  await running?.close();
  running = undefined;
});

describe('BloomHealthIndicator', () => {
  it.each(PLATFORMS)('answers probes over HTTP: %s', async (platform) => {
    const app = await startShop({ allow: [] }, platform);
    const unbuilt = {
      status: 'down',
      state: 'unbuilt',
      message: expect.stringContaining('lookups go through to the database unchecked'),
    };
    expect(await running!.get('/ready')).toEqual({
      status: 503,
      body: { status: 'error', info: {}, error: { products: unbuilt }, details: { products: unbuilt } },
    });
    expect(await running!.get('/live')).toMatchObject({
      status: 200,
      body: { status: 'ok', info: { products: { status: 'up', mode: 'on' } } },
    });
    await rebuild(app);
    // What was asked a moment ago serves other probes.
    await eventually('the route asks again', async () => (await running!.get('/ready')).status === 200);
    expect(await running!.get('/ready')).toMatchObject({
      status: 200,
      body: { status: 'ok', info: { products: { status: 'up', state: 'ready', errorRate: 0.001 } } },
    });
    expect((await running!.get('/live')).body).toMatchObject({ info: { products: { state: 'ready' } } });
  });

  it('leaves an application in service whose filter is not ready, unless it is asked for more', async () => {
    await startShop();
    expect(await running!.get('/ready')).toMatchObject({
      status: 200,
      body: { status: 'ok', info: { products: { status: 'up', state: 'unbuilt' } } },
    });
  });

  it.each<[allow: BloomHealthOptions['allow'], status: number]>([
    [['unbuilt'], 200],
    [['unknown'], 200],
    [['lost', 'suspect', 'unavailable'], 503],
    [[], 503],
  ])('allows the states that it is given: %j', async (allow, status) => {
    await startShop({ allow: allow! });
    expect((await running!.get('/ready')).status).toBe(status);
  });

  it('is down for a generation that is too old, and says how old it is', async () => {
    const app = await startShop({ maxAgeMs: 3_600_000 });
    await rebuild(app);
    const indicator = app.get(BloomHealthIndicator);
    const healthy = await indicator.isHealthy('products', { maxAgeMs: 3_600_000 });
    expect(healthy['products']).toMatchObject({
      status: 'up',
      builtAt: expect.stringMatching(/^\d{4}-.*Z$/),
    });
    const clock = jest.spyOn(Date, 'now').mockReturnValue(Date.now() + 4_000_000);
    try {
      const old = await indicator.isHealthy('products', { maxAgeMs: 3_600_000, key: 'bloom' });
      expect(old['bloom']).toMatchObject({
        status: 'down',
        state: 'ready',
        message: expect.stringMatching(/^The filter was built 4\d{6} ms ago, and maxAgeMs is 3600000\.$/),
      });
    } finally {
      clock.mockRestore();
    }
  });

  it('is down when more absent ids pass than allowed', async () => {
    const app = await startShop();
    await rebuild(app);
    await app
      .get(BloomService)
      .filter('products')
      .addMany(Array.from({ length: 5000 }, (_, i) => `new-${i}`));
    const indicator = app.get(BloomHealthIndicator);
    expect((await indicator.isHealthy('products'))['products']).toMatchObject({ status: 'up' });
    expect((await indicator.isHealthy('products', { maxErrorRate: 0.01 }))['products']).toMatchObject({
      status: 'down',
      state: 'ready',
      message: expect.stringContaining('passes the filter, and maxErrorRate is 0.01'),
    });
  });

  it('asks the store once for the probes of the same time', async () => {
    const app = await startShop();
    const info = jest.spyOn(app.get(BloomService).filter('products'), 'info');
    await Promise.all(Array.from({ length: 20 }, () => running!.get('/ready')));
    expect(info.mock.calls.length).toBeLessThan(20);
    // An answer counts for a second, in which a machine that is busy may not answer two probes.
    await eventually('a probe has the answer of the one before', async () => {
      await running!.get('/live');
      const asked = info.mock.calls.length;
      await running!.get('/live');
      return info.mock.calls.length === asked;
    });
  });

  it('says which filters there are where one of the name is not registered', async () => {
    const app = await startShop();
    const indicator = app.get(BloomHealthIndicator);
    await expect(indicator.isHealthy('prodcuts')).rejects.toThrow(/prodcuts.*products/s);
    await expect(indicator.isAlive('prodcuts')).rejects.toThrow(/prodcuts.*products/s);
  });

  it.each<[what: string, options: object, message: RegExp]>([
    ['a misspelt option', { maxAge: 1 }, /Did you mean 'maxAgeMs'\?|The options are/],
    ['an unknown state', { allow: ['gone'] }, /expected allow to be an array of 'unbuilt', 'lost'/],
    ['a state without an array', { allow: 'unknown' }, /expected allow/],
    ['an age that is no number', { maxAgeMs: '1d' }, /expected maxAgeMs to be a number of milliseconds/],
    ['an age of 0', { maxAgeMs: 0 }, /expected maxAgeMs/],
    ['an error rate in percent', { maxErrorRate: 5 }, /expected maxErrorRate to be a share/],
    ['a deadline of NaN', { timeoutMs: NaN }, /expected timeoutMs/],
    ['an empty key', { key: '' }, /expected key/],
  ])('refuses %s', async (_, options, message) => {
    const app = await startShop();
    await expect(app.get(BloomHealthIndicator).isHealthy('products', options)).rejects.toThrow(message);
  });

  it('says what is missing without BloomModule', async () => {
    const start = startContext({ imports: [TerminusModule], providers: [BloomHealthIndicator] });
    await expect(start).rejects.toThrow(/BloomHealthIndicator needs the filters of BloomModule/);
  });

  it('finds the filters of a module that is not global', async () => {
    const module = await startContext({
      imports: [BloomModule.forRoot({ isGlobal: false, filters: [products] }), TerminusModule],
      providers: [BloomHealthIndicator],
    });
    expect(await module.get(BloomHealthIndicator).isHealthy('products')).toMatchObject({
      products: { status: 'up' },
    });
    await module.close();
  });
});
