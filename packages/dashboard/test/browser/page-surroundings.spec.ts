import { createServer, request } from 'node:http';
import { once } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import { eventually } from '../../../../test/support/eventually.js';
import { startRedis } from '../../../../test/support/redis-server.js';
import { USER } from '../dashboard-app.js';
import { openedDashboard, SHOP } from './opened-dashboard.js';

const { start, open, openAny, closePage } = openedDashboard();

describe('The page, whatever is around it', () => {
  it('shows nothing of an id but what was typed, and that as a text', async () => {
    const evil = '<img src=x onerror="globalThis.harmed = true">';
    const app = await start({ metadata: SHOP });
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

  it('says that a filter is unavailable while Redis is, and that it is ready when Redis is back', async () => {
    const server = await startRedis({ args: ['--appendonly', 'yes'] });
    try {
      const app = await start({ bloom: { redis: server.url, trustAfterFailover: true } });
      await app.bloom.filter('products').rebuild();
      const { shows, text } = await open();
      await shows('.badge', 'ready');
      await shows('.tiles', /Built.*ago/);
      await server.kill();
      await shows('.badge', '✕ unavailable');
      await shows('.chosen .state', 'unavailable');
      await shows('.chosen .age', '–');
      expect(await text('.tiles')).not.toContain('never');
      expect(await text('.chosen .note')).toContain('its state cannot be read');
      await server.restart();
      await shows('.badge', '● ready');
      await shows('.tiles', /Built.*ago/);
      // The page ends before the server does.
      await closePage();
      await app.close();
    } finally {
      await server.stop();
    }
  });

  it('is not served without the password', async () => {
    await start();
    const { text } = await openAny({ user: { ...USER, password: 'another' } });
    expect(await text('body')).not.toContain('Bloom filters');
  });

  it('cannot be read or made to act by a site whose name leads to its server', async () => {
    const app = await start({ dashboard: { insecure: true, hosts: ['bloom.example'] } });
    const { port } = new URL(app.url);
    const { page } = await openAny({
      user: undefined,
      url: `http://evil.example:${port}/bloom/assets/page.css`,
    });
    const statuses = await page.evaluate(async () => {
      const headers = { 'content-type': 'application/json', 'x-bloom-token': 'A'.repeat(43) };
      const body = '{"filter":"products","mode":"off"}';
      const answers = await Promise.all([
        fetch('../'),
        fetch('../stream'),
        fetch('../actions/mode', { method: 'POST', headers, body }),
      ]);
      return answers.map(({ status }) => status);
    });
    expect(statuses).toEqual([403, 403, 403]);
    expect(app.bloom.filter('products').guarding.mode).toBe('on');
    await closePage();
    await open({ user: undefined, url: `http://bloom.example:${port}/bloom/` });
  });

  it('cannot be made to act by a page of another origin', async () => {
    const app = await start({ prepare: (nest) => nest.enableCors({ origin: true, credentials: true }) });
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
    const app = await start({ platform: 'fastify' });
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
    await closePage();
    proxy.closeAllConnections();
    proxy.close();
  });

  it('connects again when the application is back', async () => {
    const app = await start();
    const port = Number(new URL(app.url).port);
    const { shows } = await open();
    await app.close();
    await shows('#connection', /again/);
    await start({ port });
    await shows('#connection', 'live');
  });
});
