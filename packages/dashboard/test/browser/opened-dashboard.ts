import { afterAll, afterEach, beforeAll } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { BloomGuarded } from 'nestjs-bloom';
import { type DashboardApp, startDashboard } from '../dashboard-app.js';
import { type OpenedPage, type OpenOptions, TestBrowser } from './browser-page.js';

type StartOptions = Parameters<typeof startDashboard>[0];

@Injectable()
export class Shop {
  @BloomGuarded('products')
  async find(sku: string): Promise<string | null> {
    return sku === 'a' ? sku : null;
  }
}

/** An application with a guarded method. */
export const SHOP = { providers: [Shop] };

/**
 * The browser of the tests of a file, with one application and one page of it at a time. Both end with each
 * test.
 */
export function openedDashboard() {
  let browser: TestBrowser;
  let app: DashboardApp | undefined;
  let opened: OpenedPage | undefined;
  const closePage = async () => {
    await opened?.close();
    opened = undefined;
  };
  beforeAll(async () => {
    browser = await TestBrowser.start();
  });
  afterEach(async () => {
    await closePage();
    await app?.close();
    app = undefined;
  });
  afterAll(() => browser?.close());

  const openAny = async (options: Partial<OpenOptions> = {}): Promise<OpenedPage> => {
    opened = await browser.open({ url: `${app!.url}/bloom/`, ...options });
    return opened;
  };
  return {
    async start(options?: StartOptions): Promise<DashboardApp> {
      // A browser opens connections in advance. Until their first request Node's server waits for them, for
      // minutes.
      app = await startDashboard({ forceCloseConnections: true, ...options });
      return app;
    },
    /** Waits until the page has its first figures. */
    async open(options?: Partial<OpenOptions>): Promise<OpenedPage> {
      const page = await openAny(options);
      await page.shows('#connection', 'live');
      return page;
    },
    openAny,
    closePage,
  };
}
