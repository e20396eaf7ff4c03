import { describe, expect, it } from '@jest/globals';
import { eventually } from '../../../../test/support/eventually.js';
import { PRODUCTS, USER } from '../dashboard-app.js';
import { openedDashboard } from './opened-dashboard.js';

const { start, open } = openedDashboard();

describe('The buttons of the page', () => {
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
    await start({ bloom: { filters: [{ ...PRODUCTS, source }] } });
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
    const app = await start({ bloom: { filters: [{ ...PRODUCTS, source }] } });
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
    await page.waitForSelector('.actions button:enabled');
    const outline = await page.$eval('.actions button', (button) => {
      button.focus();
      return getComputedStyle(button).outlineStyle;
    });
    expect(outline).toBe('solid');
  });

  it('takes the end of one question for no answer to the next', async () => {
    await start();
    const { page } = await open();
    const answer = await page.evaluate(async () => {
      const { src } = document.querySelector<HTMLScriptElement>('script[type=module]')!;
      const { confirmed } = (await import(new URL('act.js', src).href)) as {
        confirmed(question: { title: string; text: string; yes: string }): Promise<boolean>;
      };
      const question = { title: 'Sure?', text: '', yes: 'Yes' };
      void confirmed(question);
      document.querySelector('dialog')!.close();
      const second = confirmed(question);
      // The event of the first one comes before.
      await new Promise((resolve) => setTimeout(resolve));
      document.getElementById('confirm-yes')!.click();
      return second;
    });
    expect(answer).toBe(true);
  });

  it('shows no buttons to who may only look', async () => {
    await start({
      dashboard: { auth: USER, readOnly: true, actions: [{ name: 'Attack', run: () => {} }] },
    });
    const { page, shows } = await open();
    await shows('h2', 'products');
    const visible = await page.$$eval('main button', (buttons) =>
      buttons.filter((one) => one.checkVisibility()).map(({ textContent }) => textContent),
    );
    expect(visible).toEqual(['products', 'Look up']);
  });
});
