import { createServer, request } from 'node:http';
import { once } from 'node:events';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { BloomGuarded } from 'nestjs-bloom';
import { eventually } from '../../../support/eventually.js';
import { PLATFORMS } from '../../../support/nest-app.js';
import { type OpenedPage, type OpenOptions, TestBrowser } from './browser-page.js';
import { type DashboardApp, idsOf, PRODUCTS, startDashboard, USER } from '../dashboard-app.js';

@Injectable()
class Shop {
  @BloomGuarded('products')
  async find(sku: string): Promise<string | null> {
    return sku === 'a' ? sku : null;
  }
}

const metadata = { providers: [Shop] };
const filters = [
  PRODUCTS,
  { name: 'customers', capacity: 50, source: idsOf('c'), rebuild: { onBoot: 'never', drainMs: 0 } } as const,
];

let browser: TestBrowser;
let app: DashboardApp | undefined;
let opened: OpenedPage | undefined;
beforeAll(async () => {
  browser = await TestBrowser.start();
});
afterEach(async () => {
  await opened?.close();
  await app?.close();
  opened = app = undefined;
});
afterAll(() => browser?.close());

async function open(options: Partial<OpenOptions> = {}): Promise<OpenedPage> {
  opened = await browser.open({ url: `${app!.url}/bloom/`, ...options });
  await opened.shows('#connection', 'live');
  return opened;
}

/** Looks up ids that do not exist, until it is told to stop. */
function attack(): { stop(): Promise<void> } {
  const shop = app!.app.get(Shop);
  let isOn = true;
  const ended = (async () => {
    for (let n = 0; isOn; n++) {
      await Promise.all(Array.from({ length: 20 }, (_, i) => shop.find(`absent ${n} ${i}`)));
      await new Promise((done) => setTimeout(done, 20));
    }
  })();
  return {
    stop: () => {
      isOn = false;
      return ended;
    },
  };
}

const canvasOf = (page: OpenedPage['page']) => page.$eval('.chart canvas', (canvas) => canvas.toDataURL());

describe.each(PLATFORMS)('The page in a browser on %s', (platform) => {
  it('shows all filters, asks no other host, and the browser complains of nothing', async () => {
    app = await startDashboard({ platform, bloom: { filters } });
    await app.bloom.filter('products').rebuild();
    const { page, complaints, asked, shows, text } = await open();
    await shows('tr.chosen', 'products');
    await shows('.filters tbody', 'customers');
    await shows('.badge', 'ready');
    expect(await text('.tiles')).toContain('3 ids');
    await page.click('.filters tr:nth-child(2) .name');
    await shows('h2', 'customers');
    await shows('.badge', 'unbuilt');
    // The other filter is in the address, and there again when the page is loaded again.
    await page.reload();
    await shows('h2', 'customers');
    expect(new Set(asked.map(({ origin }) => origin))).toEqual(new Set([app.url]));
    expect(asked.length).toBeGreaterThan(10);
    expect(complaints).toEqual([]);
  });
});

describe('The page', () => {
  it('has charts that move under load, and shows what is blocked while it is', async () => {
    app = await startDashboard({ metadata });
    await app.bloom.filter('products').rebuild();
    const { page, shows, text } = await open();
    await shows('.chart .unseen', /absent 0,/);
    const before = await canvasOf(page);
    const load = attack();
    await shows('.blocked .figure', /^[1-9]/);
    await shows('.chart .unseen', /absent [1-9]/);
    await eventually('the chart has been drawn anew', async () => (await canvasOf(page)) !== before);
    await shows('.tables', 'Shop.find');
    await load.stop();
    await shows('.blocked .figure', /^0$/);
    expect(await text('.chosen .saved')).toMatch(/%/);
  });

  it('starts a rebuild with its button, shows how far it is, and that it has ended', async () => {
    let go: () => void = () => {};
    const source = {
      count: async () => 4,
      async *ids() {
        yield ['a', 'b'];
        await new Promise<void>((resolve) => (go = resolve));
        yield ['c', 'd'];
      },
    };
    app = await startDashboard({ bloom: { filters: [{ ...PRODUCTS, source }] } });
    const { page, shows, text, complaints } = await open();
    await shows('.badge', 'unbuilt');
    await page.click('::-p-text(Rebuild)');
    await shows('.running', /rebuilding on .* \d+ %/);
    expect(await page.$eval('.running', (one) => Boolean((one as HTMLElement).hidden))).toBe(false);
    expect(await page.$eval('.actions button', (one) => (one as HTMLButtonElement).disabled)).toBe(true);
    go();
    await shows('.badge', 'ready');
    await eventually('the progress is gone', () =>
      page.$eval('.running', (one) => Boolean((one as HTMLElement).hidden)),
    );
    await shows('tbody:has(.ended)', 'published');
    expect(await text('#announcer')).toMatch(/products/);
    await shows('.events', 'rebuild-finished');
    expect(complaints).toEqual([]);
  });

  it('asks before it stops a rebuild or changes the mode, and takes the keyboard', async () => {
    const source = {
      async *ids({ signal }: { signal: AbortSignal }) {
        yield ['a'];
        await new Promise((_, reject) =>
          signal.addEventListener('abort', () => reject(signal.reason as Error)),
        );
      },
    };
    app = await startDashboard({ bloom: { filters: [{ ...PRODUCTS, source }] } });
    const { page, shows } = await open();
    const pressed = async (text: string) => {
      await page.evaluate((wanted) => {
        const buttons = [...document.querySelectorAll('button')];
        buttons.find((one) => one.checkVisibility() && one.textContent === wanted)!.focus();
      }, text);
      await page.keyboard.press('Enter');
    };
    const dialogIsOpen = () => page.$eval('dialog', (one) => one.open);
    await pressed('off');
    expect(await dialogIsOpen()).toBe(true);
    await page.keyboard.press('Escape');
    expect(await dialogIsOpen()).toBe(false);
    expect(app.bloom.filter('products').guarding.mode).toBe('on');
    await pressed('shadow');
    await pressed("Set 'shadow'");
    await shows('.chosen .mode', 'shadow');
    await shows('.panel', "Mode 'shadow' was set for all instances by ada");
    await pressed('Rebuild');
    await shows('.running', 'rebuilding');
    await pressed('Abort');
    await pressed('Stop it');
    await shows('tbody:has(.ended)', 'stopped');
    const outline = await page.$eval('.actions button', (button) => {
      button.focus();
      return getComputedStyle(button).outlineStyle;
    });
    expect(outline).toBe('solid');
  });

  it('shows nothing of an id but what was typed, and that as a text', async () => {
    const evil = '<img src=x onerror="globalThis.harmed = true">';
    app = await startDashboard({ metadata });
    await app.bloom.filter('products').rebuild();
    const { page, shows, complaints } = await open();
    app.bloom.emit({ type: 'advice', filter: 'products', text: evil });
    app.bloom.emit({
      type: 'invalid-id',
      filter: 'products',
      method: evil,
      error: new Error('secret-id-4711'),
    });
    app.bloom.emit({
      type: 'wrong-absent',
      filter: 'products',
      id: 'secret-id-4711',
      method: 'A.b',
      wrongAbsents: 1,
      absents: 9,
      distrusted: false,
    });
    await shows('.events', evil);
    await shows('.events', 'wrong-absent');
    await page.type('#inspected', evil);
    await page.keyboard.press('Enter');
    await shows('.verdict', /^absent/);
    await page.$eval('#inspected', (input) => ((input as HTMLInputElement).value = ''));
    await page.type('#inspected', 'a');
    await page.keyboard.press('Enter');
    await shows('.verdict', /^maybe/);
    const found = await page.evaluate(() => ({
      harmed: 'harmed' in globalThis,
      images: document.querySelectorAll('main img').length,
      text: document.body.textContent,
    }));
    expect(found).toMatchObject({ harmed: false, images: 0, text: expect.not.stringContaining('4711') });
    expect(complaints).toEqual([]);
  });

  it.each([
    ['360 px', 360],
    ['768 px', 768],
  ])('needs no scrolling to the side at %s', async (_, width) => {
    app = await startDashboard({
      metadata,
      bloom: {
        filters: [
          { ...PRODUCTS, name: 'a-name-of-a-filter-that-is-as-long-as-it-may-be-in-any-of-the-stores' },
          ...filters,
        ],
      },
    });
    app.bloom.emit({ type: 'advice', filter: 'products', text: `x${'y'.repeat(300)}` });
    await app.bloom.filter('products').rebuild();
    const { page, shows } = await open({ width, url: `${app.url}/bloom/#products` });
    await app.app.get(Shop).find('absent');
    await shows('.tables', 'Shop.find');
    await shows('.events', 'yyy');
    const widths = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
    expect(widths).toEqual([width, width]);
  });

  it('is dark where the system is, with its charts', async () => {
    app = await startDashboard();
    const { page } = await open({ isDark: true });
    const brightness = () =>
      page.evaluate(() => {
        const of = (color: string) =>
          (color.match(/\d+/g) ?? []).slice(0, 3).reduce((sum, part) => sum + Number(part), 0);
        const style = getComputedStyle(document.body);
        return { back: of(style.backgroundColor), text: of(style.color) };
      });
    await page.waitForSelector('.chart canvas');
    const canvas = await canvasOf(page);
    const dark = await brightness();
    expect(dark.back).toBeLessThan(150);
    expect(dark.text).toBeGreaterThan(500);
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: 'light' }]);
    const light = await brightness();
    expect(light.back).toBeGreaterThan(600);
    expect(light.text).toBeLessThan(200);
    await eventually('the charts have the other colours', async () => (await canvasOf(page)) !== canvas);
  });

  it('shows no buttons to who may only look', async () => {
    app = await startDashboard({
      dashboard: { auth: USER, readOnly: true, actions: [{ name: 'Attack', run: () => {} }] },
    });
    const { page, shows } = await open();
    await shows('h2', 'products');
    const visible = await page.$$eval('main button', (buttons) =>
      buttons.filter((one) => one.checkVisibility()).map(({ textContent }) => textContent),
    );
    expect(visible).toEqual(['products', 'Look up']);
  });

  it('is not served without the password', async () => {
    app = await startDashboard();
    opened = await browser.open({ url: `${app.url}/bloom/`, user: { ...USER, password: 'another' } });
    expect(await opened.text('body')).not.toContain('Bloom filters');
  });

  it('cannot be made to act by a page of another origin', async () => {
    app = await startDashboard({ prepare: (nest) => nest.enableCors({ origin: true, credentials: true }) });
    const evil = createServer((_, response) =>
      response.setHeader('content-type', 'text/html').end('<title>evil</title>'),
    ).listen(0, '127.0.0.1');
    await once(evil, 'listening');
    const { page } = await open();
    await page.goto(`http://127.0.0.1:${(evil.address() as { port: number }).port}/`);
    const outcomes = await page.evaluate(async (dashboard) => {
      const read = await fetch(dashboard, { credentials: 'include' }).then(
        (answer) => answer.status,
        () => 'refused',
      );
      const headers = { 'content-type': 'application/json', 'x-bloom-token': 'A'.repeat(43) };
      const acted = await fetch(`${dashboard}actions/mode`, {
        method: 'POST',
        credentials: 'include',
        headers,
        body: '{"filter":"products","mode":"off"}',
      }).then(
        (answer) => answer.status,
        () => 'refused',
      );
      const form = document.createElement('form');
      form.method = 'post';
      form.enctype = 'text/plain';
      form.action = `${dashboard}actions/mode`;
      form.append(
        Object.assign(document.createElement('input'), {
          name: '{"filter":"products","mode":"off","x":"',
          value: '"}',
        }),
      );
      document.body.append(form);
      form.submit();
      return { read, acted };
    }, `${app.url}/bloom/`);
    expect(outcomes).toEqual({ read: 'refused', acted: 'refused' });
    await eventually('the form was sent', () => page.url().endsWith('/actions/mode'));
    expect(app.bloom.filter('products').guarding.mode).toBe('on');
    evil.closeAllConnections();
    evil.close();
  });

  it('works behind a proxy that takes a part of the path away', async () => {
    app = await startDashboard({ platform: 'fastify' });
    const target = new URL(app.url);
    const proxy = createServer((message, response) => {
      const path = message.url!.replace(/^\/ops\/shop/, '');
      const headers = { ...message.headers, host: target.host, 'x-forwarded-host': message.headers.host };
      const passed = request(
        { host: target.hostname, port: target.port, method: message.method, path, headers },
        (answer) => {
          response.writeHead(answer.statusCode!, answer.headers);
          answer.pipe(response);
        },
      );
      passed.on('error', () => response.destroy());
      response.on('close', () => passed.destroy());
      message.pipe(passed);
    }).listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    const url = `http://127.0.0.1:${(proxy.address() as { port: number }).port}/ops/shop/bloom`;
    const { page, complaints, asked, shows } = await open({ url });
    await page.click('::-p-text(Rebuild)');
    await shows('.badge', 'ready');
    expect(asked.filter(({ pathname }) => !pathname.startsWith('/ops/shop/bloom'))).toEqual([]);
    expect(complaints).toEqual([]);
    await opened!.close();
    opened = undefined;
    proxy.closeAllConnections();
    proxy.close();
  });

  it('connects again when the application is back', async () => {
    app = await startDashboard();
    const port = Number(new URL(app.url).port);
    const { shows } = await open();
    await app.close();
    await shows('#connection', /again/);
    app = await startDashboard({ port });
    await shows('#connection', 'live');
  });

  it('draws what the application adds, and has its buttons', async () => {
    let queries = 0;
    let run = 0;
    app = await startDashboard({
      dashboard: {
        auth: USER,
        series: [
          { name: 'Database queries', isCounter: true, read: () => (queries += 50) },
          {
            name: 'Broken',
            read: () => {
              throw new Error('no');
            },
          },
        ],
        actions: [
          {
            name: 'Attack the shop',
            description: 'Five seconds.',
            run: () => {
              run++;
              return 'It is over.';
            },
          },
        ],
      },
    });
    const { page, shows } = await open();
    await shows('.application figure', /Database queries.*[1-9]/);
    await shows('.application figure:nth-child(2) .unseen', '–');
    await page.click('::-p-text(Attack the shop)');
    await shows('.run .outcome', 'It is over.');
    expect(run).toBe(1);
  });
});
