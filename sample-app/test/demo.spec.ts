import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openPage, streamed } from '../../packages/dashboard/test/dashboard-app.js';
import { type PostgresServer, requirePostgres } from '../../test/support/postgres-server.js';
import { type DemoCommand, runDemoCommand } from '../src/demo/demo-command.js';
import type { DemoResult } from '../src/demo/demo-result.js';
import { runLoad } from '../src/demo/load.js';

const SIZES = {
  users: 4,
  requestsPerPhase: 300,
  maxMsPerPhase: 5_000,
  generatedProducts: 500,
  generatedOrders: 2_000,
};

async function run(words: string[], overrides: Partial<DemoCommand> = {}) {
  let stdout = '';
  let stderr = '';
  const exitCode = await runDemoCommand({
    words,
    environment: {},
    stdout: { write: (text) => (stdout += text) },
    stderr: { write: (text) => (stderr += text) },
    runLoad,
    sizes: SIZES,
    signal: new AbortController().signal,
    ...overrides,
  });
  return { exitCode, stdout, stderr };
}

describe('the demo', () => {
  let postgres: PostgresServer;
  beforeAll(async () => {
    postgres = await requirePostgres();
  });
  afterAll(() => postgres?.stop());

  /**
   * A database of its own; without one the demo starts an embedded Postgres, as `.ci/run` has it do: that
   * takes many times as long.
   */
  async function withDatabase(name: string): Promise<NodeJS.ProcessEnv> {
    await postgres.run(`create database ${name}`);
    return { DATABASE_URL: postgres.url.replace(/postgres$/, name) };
  }

  it('prints its figures as one JSON object and nothing else', async () => {
    const environment = await withDatabase('figures');
    const { exitCode, stdout } = await run(['--exit', '--json'], { environment });
    const result = JSON.parse(stdout) as DemoResult;
    expect(result).toMatchObject({ store: 'memory', catalog: { source: 'generated', products: 500 } });
    expect(result.phases.map((phase) => Object.keys(phase))).toEqual(
      Array.from({ length: 6 }, () => [
        'name',
        'requests',
        'requestsPerSecond',
        'p50Ms',
        'p99Ms',
        'cacheHits',
        'databaseQueries',
        'notFound',
        'falsePositives',
        'wrongAbsent',
      ]),
    );
    const [real, unguarded, guarded, rebuilding, orders, guardedOrders] = result.phases;
    expect(real).toMatchObject({ notFound: 0, wrongAbsent: 0 });
    expect(unguarded!.databaseQueries).toBe(unguarded!.requests);
    expect(guarded).toMatchObject({ notFound: guarded!.requests, databaseQueries: guarded!.falsePositives });
    expect(guarded!.falsePositives).toBeLessThan(10);
    expect(rebuilding).toMatchObject({ notFound: 0, wrongAbsent: 0 });
    expect(orders).toMatchObject({ notFound: orders!.requests, databaseQueries: orders!.requests });
    // Ids in the largest gaps between rows go to the database.
    expect(guardedOrders).toMatchObject({ notFound: guardedOrders!.requests });
    expect(guardedOrders!.databaseQueries).toBeLessThan(guardedOrders!.requests / 4);
    expect(exitCode).toBe(0);
  });

  /** Presses the button of the dashboard, and waits until it shows how the attack ended. */
  async function attackFrom(dashboard: string): Promise<unknown> {
    const headers = await openPage(dashboard, {});
    const body = '{"name":"Attack the shop"}';
    const started = await fetch(`${dashboard}actions/run`, { method: 'POST', headers, body });
    expect(started.status).toBe(202);
    const { data } = await streamed(
      `${dashboard}stream`,
      ({ event, data }) => event === 'tick' && data.actions[0].outcome !== undefined,
      {},
    );
    return data.actions[0].outcome;
  }

  it('prints a table, then serves until it is told to end', async () => {
    const ended = new AbortController();
    let served = '';
    const stderr = {
      write: (text: string) => {
        served += text;
        if (text.includes('goes on serving')) void visit();
      },
    };
    const statuses: number[] = [];
    let outcome: unknown;
    async function visit() {
      for (const [url] of served.matchAll(/http:\S+products\/\S+/g)) statuses.push((await fetch(url)).status);
      const [dashboard] = /http:\S+\/bloom\//.exec(served)!;
      outcome = await attackFrom(dashboard);
      ended.abort();
    }
    const environment = await withDatabase('served');
    const { exitCode, stdout } = await run([], { environment, stderr, signal: ended.signal });
    expect(stdout).toMatch(/attack, guarded +\d+/);
    // Beside false positives: what is audited, and what is not covered.
    expect(stdout).toMatch(/ let +wrong\n.* through +absents\n/);
    expect(statuses).toEqual([200, 404, 404]);
    expect(outcome).toMatchObject({
      isError: false,
      text: expect.stringMatching(/^Without the guard \S+ requests .* With the guard \S+ requests/),
    });
    expect(exitCode).toBe(0);
  });

  it('ends with exit code 1 when an existing product was answered "not found"', async () => {
    const { exitCode } = await run(['--exit'], {
      environment: await withDatabase('wrong'),
      sizes: { ...SIZES, requestsPerPhase: 30 },
      runLoad: async (plan, options) => ({ ...(await runLoad(plan, options)), wrongAbsent: 1 }),
    });
    expect(exitCode).toBe(1);
  });

  it('refuses arguments that it does not know', async () => {
    for (const words of [['--jsno'], ['now'], ['--exit=1']]) {
      const { exitCode, stdout, stderr } = await run(words);
      expect([exitCode, stdout]).toEqual([2, '']);
      expect(stderr).toContain('Usage: npm run demo');
    }
  });

  it.each([
    ['CATALOG', join(import.meta.dirname, 'missing.csv'), 1, /missing\.csv: expected a readable CSV/],
    ['CATALOG', import.meta.filename, 1, /demo\.spec\.ts, line 1: expected the header stockCode,/],
    ['PORT', '80 80', 2, /Expected PORT to be a number/],
    [
      'DATABASE_URL',
      'postgres://me:secret@127.0.0.1:1/shop',
      1,
      /Expected a Postgres server at 127\.0\.0\.1:1 /,
    ],
  ])('says what is wrong with %s=%s, without a stack trace', async (name, value, code, message) => {
    const { exitCode, stdout, stderr } = await run(['--exit'], { environment: { [name]: value } });
    expect([exitCode, stdout]).toEqual([code, '']);
    expect(stderr).toMatch(message);
    expect(stderr).not.toMatch(/^ {4}at |secret/m);
  });
});
