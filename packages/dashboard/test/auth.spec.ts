import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import {
  type CanActivate,
  type ExecutionContext,
  Injectable,
  Module,
  Scope,
  SetMetadata,
} from '@nestjs/common';
import { APP_GUARD, Reflector } from '@nestjs/core';
import { afterEach, describe, expect, it } from '@jest/globals';
import { BloomConfigError, BloomModule } from 'nestjs-bloom';
import { BloomDashboardModule, type BloomDashboardOptions } from '../src/index.js';
import { PLATFORMS, startApp } from '../../../test/support/nest-app.js';
import {
  basic,
  type DashboardApp,
  openPage,
  PRODUCTS,
  startDashboard,
  streamed,
  USER,
} from './dashboard-app.js';

let app: DashboardApp | undefined;
afterEach(async () => {
  await app?.close();
  app = undefined;
});

const PAGES = ['', '/', '/assets/page.js', '/assets/uplot.js', '/assets/nothing', '/stream'];
const ACTIONS = ['rebuild', 'stop', 'mode', 'inspect', 'run', 'nothing'];

/** The status of each address there is. */
async function statuses(page: string, headers: Record<string, string>): Promise<number[]> {
  const post = {
    method: 'POST',
    body: '{"filter":"products"}',
    headers: { ...headers, 'content-type': 'application/json' },
  };
  const asked = [
    ...PAGES.map((path) => fetch(page + path, { headers, redirect: 'manual' })),
    ...PAGES.map((path) => fetch(page + path, { headers, redirect: 'manual', method: 'HEAD' })),
    ...ACTIONS.map((name) => fetch(`${page}/actions/${name}`, post)),
  ];
  return Promise.all(
    asked.map(async (asked) => {
      const { status, body } = await asked;
      await body?.cancel();
      return status;
    }),
  );
}

/** The statuses of the page, a file, the stream and an action without a token. */
function hostStatuses(url: string, headers: Record<string, string>): Promise<number[]> {
  const asked = ['/bloom/', '/bloom/assets/page.js', '/bloom/stream', '/bloom/actions/mode'].map(
    async (path) => {
      const method = path.includes('actions') ? 'POST' : 'GET';
      const sent = request(url + path, { method, headers, agent: false, setHost: false });
      sent.end();
      const [response] = (await once(sent, 'response')) as [IncomingMessage];
      response.destroy();
      return response.statusCode!;
    },
  );
  return Promise.all(asked);
}

const ACTION = { name: 'a', run() {} };
const options = (options: unknown) => options as BloomDashboardOptions;

describe('A dashboard without auth', () => {
  it.each([
    ['nothing', {}],
    ['undefined', { auth: undefined }],
    ['null', { auth: null }],
    ['insecure: false', { insecure: false }],
    ['a password that is not set', { auth: { user: 'ada', password: undefined } }],
    ['an empty password', { auth: { user: 'ada', password: '' } }],
    ['a name with a colon', { auth: { user: 'a:b', password: 'secret' } }],
    ['a class that is no guard', { auth: class {} }],
    ['no guard', { auth: [] }],
    ['an option that there is not', { auth: USER, readonly: true }],
    ['auth, and insecure', { auth: USER, insecure: true }],
    ['a path with a parameter', { auth: USER, path: '/:any' }],
    ['the path of everything', { auth: USER, path: '/' }],
    ['readOnly that is not set', { auth: USER, readOnly: undefined }],
    ['hosts with a scheme', { insecure: true, hosts: ['http://bloom.internal'] }],
    ['hosts with a port', { insecure: true, hosts: ['bloom.internal:3000'] }],
    ['a host that is not set', { insecure: true, hosts: [undefined] }],
    ['a host in place of an array', { insecure: true, hosts: 'bloom.internal' }],
  ])('does not start: %s', (_, given) => {
    expect(() => BloomDashboardModule.forRoot(options(given))).toThrow(BloomConfigError);
  });

  it.each<[string, object, string]>([
    ['a series without a name', { series: [{ read() {} }] }, 'series[0].name to be a text that is not empty'],
    ['a series that is no object', { series: [5] }, 'series[0] to be an object with a name, got 5'],
    ['a series without figures', { series: [{ name: 'a' }] }, 'series[0].read to be a function'],
    ['an action that is misspelt', { actions: [{ name: 'a', runs() {} }] }, "Did you mean 'actions[0].run'?"],
    ['two of one name', { actions: [ACTION, ACTION] }, "names of actions to differ, got 'a' twice"],
    ['no array', { actions: ACTION }, 'actions to be an array'],
  ])('says what is wrong: %s', (_, given, message) => {
    expect(() => BloomDashboardModule.forRoot(options({ auth: USER, ...given }))).toThrow(message);
  });

  it('does not print a password', () => {
    const given = { auth: { user: 'a:b', password: 'do not print' } };
    expect(() => BloomDashboardModule.forRoot(given)).toThrow(/^(?!.*do not print)/);
  });

  it('does not start where a factory gives none, and starts where it does', async () => {
    const imports = (auth: typeof USER | undefined) => [
      BloomModule.forRoot({ logger: false, filters: [PRODUCTS] }),
      BloomDashboardModule.forRootAsync({ useFactory: () => (auth ? { auth } : {}) }),
    ];
    await expect(startApp('express', { imports: imports(undefined) })).rejects.toThrow(
      /expected auth, got none/,
    );
    const running = await startApp('express', { imports: imports(USER) });
    expect((await running.get('/bloom/')).status).toBe(401);
    expect((await running.get('/bloom/', { headers: { authorization: basic() } })).status).toBe(200);
    await running.close();
  });

  it('does not start without BloomModule, and says so', async () => {
    const imports = [BloomDashboardModule.forRoot({ auth: USER })];
    await expect(startApp('express', { imports })).rejects.toThrow(
      /BloomModule\.forRoot\(\) is not imported/,
    );
  });
});

describe.each(PLATFORMS)('Access to the dashboard on %s', (platform) => {
  it.each([
    ['nothing', {}],
    ['another password', { authorization: basic({ ...USER, password: 'a long passwore' }) }],
    ['another user', { authorization: basic({ ...USER, user: 'bob' }) }],
    ['a part of the password', { authorization: basic({ ...USER, password: 'a long passwor' }) }],
    ['another scheme', { authorization: basic().replace('Basic', 'Bearer') }],
    ['an empty header', { authorization: 'Basic' }],
    ['nonsense', { authorization: 'Basic ====' }],
  ] as [string, Record<string, string>][])('is refused at each address with %s', async (_, headers) => {
    app = await startDashboard({ platform });
    const all = await statuses(`${app.url}/bloom`, headers);
    // Where Fastify has no route, there is nothing to protect.
    expect(all.filter((status) => status !== 401)).toEqual([]);
    const asked = await fetch(`${app.url}/bloom/`, { headers });
    expect(asked.headers.get('www-authenticate')).toBe('Basic realm="nestjs-bloom", charset="UTF-8"');
  });

  it('is given by a guard of the application, which gets the request, providers and metadata', async () => {
    @Injectable()
    class Keys {
      readonly valid = 'k1';
    }
    @Module({ providers: [Keys], exports: [Keys] })
    class KeyModule {}
    const Kind = Reflector.createDecorator<string>();
    @Injectable({ scope: Scope.REQUEST })
    class KeyGuard implements CanActivate {
      constructor(
        private readonly keys: Keys,
        private readonly reflector: Reflector,
      ) {}

      canActivate(context: ExecutionContext) {
        const request = context
          .switchToHttp()
          .getRequest<{ headers: Record<string, string>; user?: string }>();
        const isKind = this.reflector.get(Kind, context.getClass()) === 'operator';
        request.user = 'grace';
        return isKind && request.headers['x-key'] === this.keys.valid;
      }
    }
    app = await startDashboard({
      platform,
      dashboard: {
        auth: KeyGuard,
        imports: [KeyModule],
        decorators: [Kind('operator')],
        who: (request: { user: string }) => request.user,
      },
    });
    const refused = await statuses(`${app.url}/bloom`, { 'x-key': 'k2' });
    expect(refused.filter((status) => status !== 403)).toEqual([]);
    const headers = await openPage(`${app.url}/bloom/`, { 'x-key': 'k1' });
    const body = '{"filter":"products","mode":"shadow"}';
    expect((await fetch(`${app.url}/bloom/actions/mode`, { method: 'POST', headers, body })).status).toBe(
      200,
    );
    expect((await app.bloom.instances('products')).mode).toMatchObject({ mode: 'shadow', by: 'grace' });
  });

  it('is given by none of several guards alone', async () => {
    const guard = (header: string) =>
      class implements CanActivate {
        canActivate(context: ExecutionContext) {
          return context.switchToHttp().getRequest<{ headers: object }>().headers.hasOwnProperty(header);
        }
      };
    app = await startDashboard({ platform, dashboard: { auth: [guard('x-one'), guard('x-two')] } });
    const page = `${app.url}/bloom/`;
    expect((await fetch(page, { headers: { 'x-one': '' } })).status).toBe(403);
    expect((await fetch(page, { headers: { 'x-two': '' } })).status).toBe(403);
    expect((await fetch(page, { headers: { 'x-one': '', 'x-two': '' } })).status).toBe(200);
  });

  it('stays with the global guard of an application, which a decorator may tell to let it through', async () => {
    @Injectable()
    class Global implements CanActivate {
      constructor(private readonly reflector: Reflector) {}

      canActivate(context: ExecutionContext) {
        return this.reflector.get<boolean>('public', context.getClass()) === true;
      }
    }
    const metadata = { providers: [{ provide: APP_GUARD, useClass: Global }] };
    app = await startDashboard({ platform, metadata });
    const headers = { authorization: basic() };
    expect((await fetch(`${app.url}/bloom/`, { headers })).status).toBe(403);
    await app.close();
    app = await startDashboard({
      platform,
      metadata,
      dashboard: { auth: USER, decorators: [SetMetadata('public', true)] },
    });
    expect((await fetch(`${app.url}/bloom/`)).status).toBe(401);
    expect((await fetch(`${app.url}/bloom/`, { headers })).status).toBe(200);
  });

  it('is open to everybody where that is asked for', async () => {
    app = await startDashboard({ platform, dashboard: { insecure: true } });
    expect((await fetch(`${app.url}/bloom/`)).status).toBe(200);
    const tick = await streamed(`${app.url}/bloom/stream`, ({ event }) => event === 'tick', {});
    expect(tick.data.filters).toHaveLength(1);
  });

  it('is given under no foreign name where it is open to everybody, by whatever header the name comes', async () => {
    app = await startDashboard({
      platform,
      dashboard: { insecure: true, hosts: ['Bloom.Internal', 'münchen.example'] },
    });
    const { port } = new URL(app.url);
    const allowed: Record<string, string>[] = [
      ...[
        'localhost',
        'LOCALHOST.',
        '127.0.0.1',
        '10.1.2.3',
        '[::1]',
        'bloom.internal',
        'xn--mnchen-3ya.example',
      ].map((name) => ({ host: `${name}:${port}` })),
      { host: 'bloom.internal' },
      { host: `localhost:${port}`, 'x-forwarded-host': 'bloom.internal' },
    ];
    const foreign: Record<string, string>[] = [
      { host: `evil.example:${port}` },
      { host: 'evil.example' },
      { host: 'localhost.evil.example' },
      { host: 'not.bloom.internal' },
      { host: '127.0.0.1.evil.example' },
      { host: '' },
      { host: 'localhost evil.example' },
      { host: `localhost:${port}`, 'x-forwarded-host': 'evil.example' },
      { host: `localhost:${port}`, 'x-forwarded-host': 'localhost, evil.example' },
      { host: `localhost:${port}`, origin: `http://evil.example:${port}` },
      { host: `localhost:${port}`, origin: 'null' },
    ];
    for (const headers of allowed)
      expect([headers, await hostStatuses(app.url, headers)]).toEqual([headers, [200, 200, 200, 403]]);
    for (const headers of foreign)
      expect([headers, await hostStatuses(app.url, headers)]).toEqual([headers, [403, 403, 403, 403]]);
  });

  it('is given under every name with auth, and with hosts under these alone', async () => {
    app = await startDashboard({ platform });
    const headers = { authorization: basic(), host: 'anything.example' };
    expect(await hostStatuses(app.url, headers)).toEqual([200, 200, 200, 403]);
    await app.close();
    app = await startDashboard({ platform, dashboard: { auth: USER, hosts: ['bloom.internal'] } });
    expect(await hostStatuses(app.url, headers)).toEqual([403, 403, 403, 403]);
    expect(await hostStatuses(app.url, { ...headers, host: 'bloom.internal' })).toEqual([200, 200, 200, 403]);
  });
});
