import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, describe, expect, it } from '@jest/globals';
import { eventually } from '../../../test/support/eventually.js';
import { forkProgram } from '../../../test/support/forked-program.js';
import { PLATFORMS } from '../../../test/support/nest-app.js';
import type { ThrottledShopOptions, ThrottledShopStart, ThrottledShopState } from './throttled-shop.js';

/** Jest does not load @nestjs/throttler on Node 20: it is CommonJS, and requires the ES modules of Nest. */
const PROGRAM = 'packages/throttler/test/throttled-shop.ts';
const GREEDY = { 'x-client': 'greedy' };

let shop: ChildProcess | undefined;
let url: string;

async function launch(options: ThrottledShopOptions): Promise<ThrottledShopStart> {
  shop = forkProgram(PROGRAM, options);
  const [started] = (await once(shop, 'message')) as [ThrottledShopStart];
  return started;
}

async function start(options: ThrottledShopOptions): Promise<void> {
  const started = await launch(options);
  if ('refusal' in started) throw new Error(started.refusal);
  ({ url } = started);
}

async function state(): Promise<ThrottledShopState> {
  const answer = once(shop!, 'message');
  shop!.send('state');
  return ((await answer) as [ThrottledShopState])[0];
}

async function request(path: string, headers: Record<string, string> = GREEDY) {
  const response = await fetch(url + path, { headers });
  return {
    status: response.status,
    retryAfter: response.headers.get('retry-after'),
    text: await response.text(),
  };
}

async function statusOf(path: string, headers?: Record<string, string>): Promise<number> {
  return (await request(path, headers)).status;
}

async function askAbsent(path: string, times: number, headers?: Record<string, string>): Promise<number[]> {
  const statuses = new Set<number>();
  for (let i = 0; i < times; i++) statuses.add(await statusOf(`${path}/absent-${i}`, headers));
  return [...statuses];
}

afterEach(async () => {
  if (!shop || shop.exitCode !== null) return;
  const exited = once(shop, 'exit');
  shop.kill('SIGKILL');
  await exited;
});

describe.each(PLATFORMS)('BloomThrottlerGuard on %s', (platform) => {
  it('refuses a client after 100 absent ids, however a method is guarded, and no other client', async () => {
    await start({ platform });
    for (const path of ['/checked-first', '/guarded', '/repository']) {
      const [greedy, honest] = [{ 'x-client': `greedy at ${path}` }, { 'x-client': `honest at ${path}` }];
      expect(await askAbsent(path, 100, greedy)).toEqual([404]);
      const { status, retryAfter } = await request(`${path}/absent`, greedy);
      expect(status).toBe(429);
      expect(Number(retryAfter)).toBeGreaterThan(0);
      expect(Number(retryAfter)).toBeLessThanOrEqual(60);
      expect(await statusOf(`${path}/here`, greedy)).toBe(429);
      expect(await statusOf('/health', greedy)).toBe(200);
      for (const headers of [honest, {}]) {
        expect(await request(`${path}/here`, headers)).toMatchObject({ status: 200, retryAfter: null });
        expect(await statusOf(`${path}/absent`, headers)).toBe(404);
      }
      const { called, worst } = await state();
      expect(called).toEqual(['here', 'here']);
      expect(worst).toContainEqual({ client: greedy['x-client'], absents: 100, error: 0 });
      expect(worst).toContainEqual({ client: honest['x-client'], absents: 1, error: 0 });
    }
  });

  it('refuses nobody for ids that exist, and a client until its time is over', async () => {
    await start({ platform, guard: { limit: 5, blockDuration: 4_000 } });
    for (let i = 0; i < 50; i++) expect(await statusOf('/guarded/here')).toBe(200);
    expect(await askAbsent('/guarded', 5)).toEqual([404]);
    const retryAfter = expect.stringMatching(/^[1-4]$/);
    expect(await request('/guarded/here')).toMatchObject({ status: 429, retryAfter });
    await eventually('the client is let in', async () => (await statusOf('/guarded/here')) === 200);
    expect(await statusOf('/guarded/absent')).toBe(404);
  });

  it('does not believe a client the address that it sends', async () => {
    await start({ platform, client: 'address', guard: { limit: 3 } });
    for (let i = 0; i < 3; i++) await askAbsent('/guarded', 1, { 'x-forwarded-for': `192.0.2.${i}` });
    expect(await statusOf('/guarded/here', { 'x-forwarded-for': '192.0.2.9' })).toBe(429);
    expect((await state()).worst).toEqual([{ client: '127.0.0.1', absents: 3, error: 0 }]);
  });
});

describe('BloomThrottlerGuard', () => {
  const platform = 'express';

  it('sees the networks of clients behind a proxy that is trusted', async () => {
    await start({ platform, client: 'address', guard: { limit: 3 }, trustsProxy: true });
    const from = (address: string) => ({ 'x-forwarded-for': address });
    for (let i = 0; i < 3; i++) await askAbsent('/guarded', 1, from(`2001:db8:0:7::${i}`));
    expect(await statusOf('/guarded/here', from('2001:db8:0:7::ffff'))).toBe(429);
    expect(await statusOf('/guarded/here', from('2001:db8:0:8::1'))).toBe(200);
  });

  it('refuses nobody in shadow mode, and counts', async () => {
    await start({ platform, guard: { limit: 3 }, shadow: true });
    expect(await askAbsent('/guarded', 10)).toEqual([200]);
    expect((await state()).worst).toEqual([{ client: 'greedy', absents: 10, error: 0 }]);
  });

  it('stands beside events that name the worst clients', async () => {
    await start({ platform, guard: { limit: 1e9 }, attack: { minPerSecond: 5 } });
    const attack = async () => (await state()).events.find(({ type }) => type === 'attack-started');
    await eventually('the attack is seen', async () => {
      await askAbsent('/guarded', 5);
      return (await attack()) !== undefined;
    });
    expect(await attack()).toMatchObject({ filter: 'products', clients: [{ client: 'greedy', error: 0 }] });
  });

  it('takes the texts of ThrottlerModule, and leaves its limits of requests to others', async () => {
    const throttlers = {
      throttlers: [{ limit: 1, ttl: 60_000 }],
      errorMessage: 'Slow down.',
      setHeaders: false,
    };
    await start({ platform, guard: { limit: 3 }, throttlers });
    expect(await askAbsent('/guarded', 3)).toEqual([404]);
    expect(await request('/guarded/here')).toEqual({
      status: 429,
      retryAfter: null,
      text: expect.stringContaining('Slow down.'),
    });
  });

  it('has another limit and another time where a route says so by @Throttle', async () => {
    await start({ platform });
    expect(await askAbsent('/guarded', 2)).toEqual([404]);
    expect(await statusOf('/guarded/here')).toBe(200);
    expect(await request('/strict/here')).toMatchObject({ status: 429, retryAfter: '30' });
    expect(await statusOf('/guarded/here')).toBe(200);
  });

  it('lets requests through whose client cannot be named', async () => {
    await start({ platform, client: 'failing', guard: { limit: 1 } });
    expect(await askAbsent('/guarded', 3)).toEqual([404]);
    expect((await state()).events).toContainEqual(
      expect.objectContaining({ type: 'guard-error', method: 'Shop.guarded', operation: 'client' }),
    );
  });

  it('fails the start where nobody counts clients, but not that of a test', async () => {
    expect(await launch({ platform, client: 'none' })).toEqual({
      refusal: expect.stringMatching(
        /^BloomConfigError: BloomThrottlerGuard: expected the option attack\.client/,
      ),
    });
    shop!.kill('SIGKILL');
    await start({ platform, client: 'none', isOfTest: true });
    expect(await statusOf('/guarded/here')).toBe(200);
  });

  it('fails the start with an option that cannot work', async () => {
    expect(await launch({ platform, guard: { limit: 0 } })).toEqual({
      refusal: expect.stringContaining(
        'BloomThrottlerGuard.of(): expected limit to be a number above 0, got 0',
      ),
    });
  });
});
