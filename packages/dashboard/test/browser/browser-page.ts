import type { Page } from 'puppeteer-core';
import { type Chromium, startChromium } from '../../../../test/support/chromium.js';
import { eventually } from '../../../../test/support/eventually.js';
import { USER } from '../dashboard-app.js';

export interface OpenedPage {
  readonly page: Page;
  /**
   * What the browser complained of: errors of scripts, violations of the policy, files that are not there.
   */
  readonly complaints: string[];
  /** All that the page has asked for. */
  readonly asked: URL[];
  /** What an element shows; '' without one. */
  text(selector: string): Promise<string>;
  shows(selector: string, text: RegExp | string): Promise<void>;
  close(): Promise<void>;
}

export interface OpenOptions {
  readonly url: string;
  readonly width?: number;
  readonly isDark?: boolean;
  readonly user?: typeof USER | undefined;
}

/** A browser, and pages of it that share nothing. */
export class TestBrowser {
  private constructor(private readonly chromium: Chromium) {}

  static async start(): Promise<TestBrowser> {
    return new TestBrowser(await startChromium());
  }

  async open({ url, width = 1200, isDark = false, user = USER }: OpenOptions): Promise<OpenedPage> {
    const context = await this.chromium.browser.createBrowserContext();
    const page = await context.newPage();
    page.setDefaultTimeout(180_000);
    const complaints: string[] = [];
    const asked: URL[] = [];
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warn') complaints.push(message.text());
    });
    page.on('pageerror', (error) => complaints.push(String(error)));
    page.on('dialog', (dialog) => {
      complaints.push(`dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    page.on('request', (request) => asked.push(new URL(request.url())));
    await page.setViewport({ width, height: 800 });
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: isDark ? 'dark' : 'light' }]);
    if (user) await page.authenticate({ username: user.user, password: user.password });
    await page.goto(url, { waitUntil: 'domcontentloaded' });
    const text = (selector: string) =>
      page.evaluate((wanted) => document.querySelector(wanted)?.textContent ?? '', selector);
    const shows = (selector: string, wanted: RegExp | string) =>
      eventually(`${selector} shows ${wanted}`, async () => {
        const shown = await text(selector);
        return typeof wanted === 'string' ? shown.includes(wanted) : wanted.test(shown);
      });
    return { page, complaints, asked, text, shows, close: () => context.close() };
  }

  close(): Promise<void> {
    return this.chromium.close();
  }
}
