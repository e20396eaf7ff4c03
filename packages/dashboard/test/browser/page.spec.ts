import { describe, expect, it } from '@jest/globals';
import { eventually } from '../../../../test/support/eventually.js';
import { PLATFORMS } from '../../../../test/support/nest-app.js';
import { type DashboardApp, idsOf, PRODUCTS, USER } from '../dashboard-app.js';
import type { OpenedPage } from './browser-page.js';
import { openedDashboard, Shop, SHOP } from './opened-dashboard.js';

const { start, open } = openedDashboard();
const filters = [
  PRODUCTS,
  { name: 'customers', capacity: 50, source: idsOf('c'), rebuild: { onBoot: 'never', drainMs: 0 } } as const,
];

/** Looks up ids that do not exist, until it is told to stop. */
function attack({ app }: DashboardApp): { stop(): Promise<void> } {
  const shop = app.get(Shop);
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
    const app = await start({ platform, bloom: { filters } });
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
    const app = await start({ metadata: SHOP });
    await app.bloom.filter('products').rebuild();
    const { page, shows, text } = await open();
    await shows('.chart .unseen', /absent 0,/);
    const before = await canvasOf(page);
    const load = attack(app);
    await shows('.blocked .figure', /^[1-9]/);
    await shows('.chart .unseen', /absent [1-9]/);
    await eventually('the chart has been drawn anew', async () => (await canvasOf(page)) !== before);
    await shows('.tables', 'Shop.find');
    await load.stop();
    await shows('.blocked .figure', /^0$/);
    expect(await text('.chosen .saved')).toMatch(/%/);
  });

  it.each([
    ['360 px', 360],
    ['768 px', 768],
  ])('needs no scrolling to the side at %s', async (_, width) => {
    const app = await start({
      metadata: SHOP,
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
    await start();
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

  it('draws what the application adds, and has its buttons', async () => {
    let queries = 0;
    let run = 0;
    await start({
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
