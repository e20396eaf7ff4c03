import { afterEach, describe, expect, it } from '@jest/globals';
import { eventually } from '../../../test/support/eventually.js';
import { PLATFORMS } from '../../../test/support/nest-app.js';
import {
  type DashboardApp,
  idsOf,
  openPage,
  openStream,
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

const filter = 'products';

async function post(name: string, body: unknown, headers: Record<string, string>) {
  const response = await fetch(`${app!.url}/bloom/actions/${name}`, {
    method: 'POST',
    headers,
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  return { status: response.status, body: (await response.json()) as { message: string; verdict?: string } };
}

/**
 * What a rebuild answers that ends soon. On a machine that is busy it may not, and the next one is asked for
 * that.
 */
async function rebuilt(body: object, headers: Record<string, string>) {
  let answer: Awaited<ReturnType<typeof post>> | undefined;
  await eventually('a rebuild ends soon', async () => {
    answer = await post('rebuild', body, headers);
    return answer.status !== 202;
  });
  return answer!;
}

describe.each(PLATFORMS)('An action of the dashboard on %s', (platform) => {
  it('rebuilds, by force if asked to, and says why it cannot', async () => {
    let ids = ['a', 'b', 'c', 'd'];
    const source = {
      async *ids() {
        yield ids;
      },
    };
    const filters = [
      { ...PRODUCTS, source },
      { name: 'without-source', capacity: 10 },
    ];
    app = await startDashboard({ platform, bloom: { filters } });
    const headers = await openPage(`${app.url}/bloom/`);
    expect(await rebuilt({ filter }, headers)).toEqual({
      status: 200,
      body: { message: 'The rebuild is done.' },
    });
    ids = ['the secret id'];
    const refused = await rebuilt({ filter }, headers);
    expect(refused).toMatchObject({ status: 409, body: { message: expect.stringContaining('too-few-ids') } });
    expect((await rebuilt({ filter, force: true }, headers)).status).toBe(200);
    expect(await app.bloom.filter(filter).check('a')).toBe('absent');
    expect(await post('rebuild', { filter: 'without-source' }, headers)).toMatchObject({
      status: 409,
      body: { message: expect.stringContaining('source') },
    });
    expect((await post('rebuild', { filter: 'nobody' }, headers)).status).toBe(404);
    expect((await post('nothing', { filter }, headers)).status).toBe(404);
  });

  it('stops a rebuild', async () => {
    const source = {
      async *ids({ signal }: { signal: AbortSignal }) {
        yield ['a'];
        await new Promise((_, reject) =>
          signal.addEventListener('abort', () => reject(signal.reason as Error)),
        );
      },
    };
    app = await startDashboard({ platform, bloom: { filters: [{ ...PRODUCTS, source }] } });
    const headers = await openPage(`${app.url}/bloom/`);
    expect((await post('stop', { filter }, headers)).status).toBe(409);
    expect((await post('rebuild', { filter }, headers)).status).toBe(202);
    await eventually(
      'it is asked to stop',
      async () => (await post('stop', { filter }, headers)).status === 202,
    );
    await eventually('it has stopped', async () => !(await app!.bloom.filter(filter).info()).rebuilding);
    expect((await app.bloom.instances(filter)).rebuilds[0]).toMatchObject({ outcome: 'stopped' });
  });

  it('sets the mode of all instances with the name of who did, and withdraws it', async () => {
    app = await startDashboard({ platform });
    const headers = await openPage(`${app.url}/bloom/`);
    for (const mode of ['shadow', 'off', 'on']) {
      expect((await post('mode', { filter, mode }, headers)).status).toBe(200);
      expect(app.bloom.filter(filter).guarding.mode).toBe(mode);
      expect((await app.bloom.instances(filter)).mode).toMatchObject({ mode, by: 'ada' });
    }
    expect((await post('mode', { filter, mode: null }, headers)).status).toBe(200);
    expect((await app.bloom.instances(filter)).mode).toBeUndefined();
    expect((await post('mode', { filter, mode: 'of' }, headers)).status).toBe(400);
  });

  it('looks an id up, and shows nothing of it', async () => {
    app = await startDashboard({ platform });
    const headers = await openPage(`${app.url}/bloom/`);
    const inspect = async (id: unknown) => (await post('inspect', { filter, id }, headers)).body;
    expect(await inspect('a')).toMatchObject({ verdict: 'unknown' });
    await app.bloom.filter(filter).rebuild();
    expect(await inspect('a')).toEqual({ verdict: 'maybe', message: 'answered in this process' });
    expect(await inspect('<img src=x>')).toEqual({ verdict: 'absent', message: 'answered in this process' });
    expect(await inspect('x'.repeat(5000))).toMatchObject({ verdict: 'absent' });
    expect(await inspect('')).not.toHaveProperty('verdict');
    expect(await inspect({ toString: 1 })).not.toHaveProperty('verdict');
  });

  it.each([
    ['no token', { 'x-bloom-token': '' }, {}],
    ['the token of another browser', { 'x-bloom-token': 'A'.repeat(43) }, {}],
    ['no cookie', { cookie: '' }, {}],
    ['a cookie that is none of ours', { cookie: 'bloom-dashboard=x', 'x-bloom-token': 'x' }, {}],
    ['another origin', { origin: 'https://evil.example' }, {}],
    ['an origin that is hidden', { origin: 'null' }, {}],
    ['another port', { origin: 'http://127.0.0.1:1' }, {}],
    ['another site', { 'sec-fetch-site': 'cross-site' }, {}],
    ['a neighbour', { 'sec-fetch-site': 'same-site' }, {}],
    ['a form', { 'content-type': 'application/x-www-form-urlencoded' }, { status: 415 }],
    ['a text', { 'content-type': 'text/plain' }, { status: 415 }],
  ] as [string, Record<string, string>, { status?: number }][])(
    'is refused from a forged request: %s',
    async (_, changes, { status = 403 }) => {
      app = await startDashboard({ platform });
      const headers = { ...(await openPage(`${app.url}/bloom/`)), ...changes };
      const before = (await app.bloom.filter(filter).info()).builds;
      for (const name of ['rebuild', 'mode', 'inspect', 'run']) {
        const response = await fetch(`${app.url}/bloom/actions/${name}`, {
          method: 'POST',
          headers,
          body: JSON.stringify({ filter, mode: 'off', id: 'a' }),
        });
        expect(response.status).toBe(status);
        expect(await response.text()).not.toContain('verdict');
      }
      expect((await app.bloom.filter(filter).info()).builds).toBe(before);
      expect(app.bloom.filter(filter).guarding.mode).toBe('on');
    },
  );

  it('is refused with what is no JSON object, and by GET', async () => {
    app = await startDashboard({ platform });
    const headers = await openPage(`${app.url}/bloom/`);
    for (const body of ['', '[]', 'null', '"a"', '{', '{}', `{"filter":"${'x'.repeat(200_000)}"}`])
      expect((await post('rebuild', body, headers)).status).toBeGreaterThanOrEqual(400);
    const get = await fetch(`${app.url}/bloom/actions/rebuild`, { headers });
    expect(get.status).toBe(404);
    expect((await app.bloom.filter(filter).info()).builds).toBe(0);
  });

  it('is taken where the application parses no bodies, and behind a proxy that changes the host', async () => {
    app = await startDashboard({ platform });
    const headers = await openPage(`${app.url}/bloom/`);
    const forwarded = { ...headers, origin: 'https://shop.example', 'x-forwarded-host': 'shop.example' };
    expect((await post('mode', { filter, mode: 'off' }, forwarded)).status).toBe(200);
    expect(
      (await post('mode', { filter, mode: 'on' }, { ...headers, 'sec-fetch-site': 'same-origin' })).status,
    ).toBe(200);
  });

  it.each([
    ['true', true, 403],
    ['a function that says so', () => true, 403],
    ['a function that says so later', async () => true, 403],
    ['a function that forgets to answer', (() => {}) as () => boolean, 403],
    [
      'a function that throws',
      () => {
        throw new Error('no');
      },
      500,
    ],
    ['a function that says no', () => false, 200],
    ['false', false, 200],
  ])('is refused to who may only look: %s', async (_, readOnly, status) => {
    app = await startDashboard({ platform, dashboard: { auth: USER, readOnly } });
    const headers = await openPage(`${app.url}/bloom/`);
    expect((await post('mode', { filter, mode: 'off' }, headers)).status).toBe(status);
    expect((await rebuilt({ filter }, headers)).status).toBe(status);
    expect((await app.bloom.filter(filter).info()).builds > 0).toBe(status === 200);
    // To look is no action.
    expect((await post('inspect', { filter, id: 'a' }, headers)).status).toBe(200);
    if (status === 500) return;
    const { data } = await streamed(`${app.url}/bloom/stream`, ({ event }) => event === 'backlog');
    expect(data.canAct).toBe(status === 200);
  });

  it('of the application runs once at a time, and shows how it ended', async () => {
    let end: (text: string) => void = () => {};
    const runs: string[] = [];
    const actions = [
      {
        name: 'Attack',
        run: ({ by }: { by: string }) => {
          runs.push(by);
          return new Promise<string>((resolve) => (end = resolve));
        },
      },
      {
        name: 'Fail',
        run: () => {
          throw new Error('It is broken.');
        },
      },
    ];
    app = await startDashboard({ platform, dashboard: { auth: USER, actions } });
    const headers = await openPage(`${app.url}/bloom/`);
    expect((await post('run', { name: 'Attack' }, headers)).status).toBe(202);
    expect((await post('run', { name: 'Attack' }, headers)).status).toBe(409);
    expect((await post('run', { name: 'constructor' }, headers)).status).toBe(404);
    expect((await post('run', { name: 'Fail' }, headers)).status).toBe(202);
    end('It is over.');
    const shown = await streamed(
      `${app.url}/bloom/stream`,
      ({ event, data }) =>
        event === 'tick' && data.actions.every((one: { isRunning: boolean }) => !one.isRunning),
    );
    expect(shown.data.actions).toMatchObject([
      { name: 'Attack', outcome: { text: 'It is over.', isError: false } },
      { name: 'Fail', outcome: { text: 'It is broken.', isError: true } },
    ]);
    expect(runs).toEqual(['ada']);
  });
});

it('An action is taken on Express where nobody parses bodies', async () => {
  app = await startDashboard({ bodyParser: false });
  const headers = await openPage(`${app.url}/bloom/`);
  expect((await post('mode', { filter, mode: 'off' }, headers)).status).toBe(200);
  expect((await post('mode', `{"filter":"${'x'.repeat(200_000)}"}`, headers)).status).toBe(400);
});

describe('Every answer of the dashboard', () => {
  it.each(PLATFORMS)(
    'has strict headers, and none by which other origins could read it, on %s',
    async (platform) => {
      app = await startDashboard({
        platform,
        dashboard: { insecure: true },
        bloom: { filters: [{ ...PRODUCTS, source: idsOf('a') }] },
        prepare: (nest) => nest.enableCors({ origin: true, credentials: true }),
      });
      for (const path of ['', 'assets/page.js', 'assets/icon.svg', 'assets/nothing', 'stream']) {
        const response = await openStream(`${app.url}/bloom/${path}`, { origin: app.url });
        const all = response.headers;
        response.destroy();
        expect(all).toMatchObject({
          'content-security-policy': expect.stringMatching(
            /^default-src 'none'; script-src 'self'; style-src 'self'; (?!.*unsafe).*frame-ancestors 'none'/,
          ),
          'x-content-type-options': 'nosniff',
          'x-frame-options': 'DENY',
          'referrer-policy': 'no-referrer',
          'cache-control': expect.stringMatching(/no-store|no-cache/),
        });
        expect(Object.keys(all).filter((name) => name.startsWith('access-control'))).toEqual([]);
      }
      const foreign = await openStream(`${app.url}/bloom/stream`, { origin: 'https://evil.example' });
      expect(foreign.statusCode).toBe(403);
      foreign.destroy();
    },
  );
});
