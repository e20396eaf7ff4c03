import { once } from 'node:events';
import {
  BadRequestException,
  type CallHandler,
  type ExecutionContext,
  Injectable,
  type NestInterceptor,
  type PipeTransform,
  VersioningType,
} from '@nestjs/common';
import { APP_INTERCEPTOR } from '@nestjs/core';
import { afterEach, describe, expect, it } from '@jest/globals';
import { BloomInterceptor } from 'nestjs-bloom';
import { map } from 'rxjs';
import { eventually } from '../../../test/support/eventually.js';
import { PLATFORMS } from '../../../test/support/nest-app.js';
import { basic, type DashboardApp, openPage, openStream, startDashboard, streamed } from './dashboard-app.js';

let app: DashboardApp | undefined;
afterEach(async () => {
  await app?.close();
  app = undefined;
});

const authorization = basic();

@Injectable()
class Wrapping implements NestInterceptor {
  intercept(_: ExecutionContext, next: CallHandler) {
    return next.handle().pipe(map((data: unknown) => ({ data, ok: true })));
  }
}

class Refusing implements PipeTransform {
  transform(): never {
    throw new BadRequestException();
  }
}

describe.each(PLATFORMS)('The dashboard on %s', (platform) => {
  /** Every kind of request works below `page`. */
  async function works(page: string) {
    const html = await fetch(page, { headers: { authorization } });
    expect([html.status, html.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(await html.text()).toContain('<title>Bloom filters</title>');
    const script = await fetch(`${page}assets/page.js`, { headers: { authorization } });
    expect([script.status, script.headers.get('content-type')]).toEqual([
      200,
      'text/javascript; charset=utf-8',
    ]);
    const tick = await streamed(`${page}stream`, ({ event }) => event === 'tick');
    expect(tick.data.filters).toMatchObject([{ name: 'products' }]);
    const headers = await openPage(page);
    const answer = await fetch(`${page}actions/rebuild`, {
      method: 'POST',
      headers,
      body: '{"filter":"products"}',
    });
    // On a machine that is busy it is not done as soon as the answer goes out.
    expect([200, 202]).toContain(answer.status);
    expect(await answer.json()).toEqual({
      message: expect.stringMatching(/^The rebuild (is done|has started)/),
    });
  }

  it('serves its page, files, stream and actions', async () => {
    app = await startDashboard({ platform });
    await works(`${app.url}/bloom/`);
  });

  it('sends who leaves the slash at the end out to the page, by an address that a proxy may stand before', async () => {
    app = await startDashboard({
      platform,
      dashboard: { path: 'ops/filters/', auth: { user: 'ada', password: 'a long password' } },
    });
    const response = await fetch(`${app.url}/ops/filters`, {
      headers: { authorization },
      redirect: 'manual',
    });
    expect([response.status, response.headers.get('location')]).toEqual([302, 'filters/']);
    await works(`${app.url}/ops/filters/`);
  });

  it('works below a global prefix, with versions, and with what an application has for all of its routes', async () => {
    app = await startDashboard({
      platform,
      metadata: {
        providers: [
          { provide: APP_INTERCEPTOR, useClass: Wrapping },
          { provide: APP_INTERCEPTOR, useClass: BloomInterceptor },
        ],
      },
      prepare: (nest) => {
        nest.setGlobalPrefix('api/v9');
        nest.enableVersioning({ type: VersioningType.URI, defaultVersion: '1' });
        nest.useGlobalPipes(new Refusing());
        nest.enableCors({ origin: true, credentials: true });
      },
    });
    await works(`${app.url}/api/v9/bloom/`);
  });

  it('says that there is nothing where there is nothing, and never leaves its folder', async () => {
    app = await startDashboard({ platform });
    for (const path of [
      'nothing',
      'assets/nothing.js',
      'assets/page.html',
      'assets/..%2f..%2fpackage.json',
      'assets/%2e%2e%2findex.ts',
      'assets/tsconfig.json',
      'x/',
    ]) {
      expect(await app.get(`/bloom/${path}`, { headers: { authorization } })).toMatchObject({ status: 404 });
    }
  });

  it('lets browsers keep a file, and asks them to ask whether it is the same', async () => {
    app = await startDashboard({ platform });
    const url = `${app.url}/bloom/assets/page.css`;
    const first = await fetch(url, { headers: { authorization } });
    expect(first.headers.get('cache-control')).toBe('private, no-cache');
    const again = await fetch(url, {
      headers: { authorization, 'if-none-match': first.headers.get('etag')! },
    });
    expect(again.status).toBe(304);
  });

  it('ends with the application although pages are open', async () => {
    app = await startDashboard({ platform });
    const streams = await Promise.all([1, 2, 3].map(() => openStream(`${app!.url}/bloom/stream`)));
    const ended = Promise.all(streams.map((stream) => once(stream.resume(), 'end')));
    await app.close();
    app = undefined;
    await ended;
  });

  it('refuses more open pages than it may have', async () => {
    app = await startDashboard({
      platform,
      dashboard: { auth: { user: 'ada', password: 'a long password' }, maxViewers: 2 },
    });
    const open = () => openStream(`${app!.url}/bloom/stream`);
    const [first, second, third] = [await open(), await open(), await open()];
    expect([first, second, third].map(({ statusCode }) => statusCode)).toEqual([200, 200, 503]);
    first.destroy();
    await eventually('there is room for another', async () => {
      const next = await open();
      next.destroy();
      return next.statusCode === 200;
    });
    for (const stream of [second, third]) stream.destroy();
  });
});
