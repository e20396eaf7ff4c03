import { Logger } from '@nestjs/common';
import { afterEach, expect, it, jest } from '@jest/globals';
import { helpOn } from '../../src/common/index.js';
import { EventLog } from '../../src/module/event-log.js';

afterEach(() => void jest.restoreAllMocks());

function logged(id: string | number | bigint | Uint8Array): string {
  const error = jest.spyOn(Logger.prototype, 'error').mockImplementation(() => {});
  new EventLog().write({
    type: 'wrong-absent',
    filter: 'products',
    id,
    method: 'Products.find',
    wrongAbsents: 1,
    absents: 3,
    distrusted: false,
  });
  const text = String(error.mock.calls.at(-1)![0]);
  expect(text.endsWith(` ${helpOn('BLOOM_WRONG_ABSENT')}`)).toBe(true);
  return text.slice(0, text.lastIndexOf(' '));
}

it('writes an id that a client has chosen in one short line', () => {
  const text = logged('a\n[Nest] forged\r\u001b[2J\u202e\u2028\ud800\u0085');
  expect(text).toContain("'a\\u000a[Nest] forged\\u000d\\u001b[2J\\u202e\\u2028\\ud800\\u0085'");
  expect(text).toContain('1 of 3 absent answers');
  expect(text).toContain("to stop it, run npx @nestjs-bloom/cli mode 'products' shadow");
  const long = logged('x'.repeat(1_000_000));
  expect(long).toContain(`'${'x'.repeat(64)}'… (1000000 characters)`);
  expect(logged(new Uint8Array(1_000)).length).toBeLessThan(300);
  expect(logged(1n << 1_000_000n).length).toBeLessThan(300);
  expect([logged('Ünïcode 😀'), logged(7)]).toEqual([
    expect.stringContaining("'Ünïcode 😀'"),
    expect.stringContaining(' 7,'),
  ]);
});

it('escapes what errors quote', () => {
  const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => {});
  new EventLog().write({ type: 'invalid-id', filter: 'products', error: new Error("got 'a\nforged'") });
  expect(warn.mock.calls[0]![0]).toContain("got 'a\\u000aforged'");
});

it('counts one id, one lookup and one time as one', () => {
  const texts: string[] = [];
  const take = (text: unknown) => void texts.push(String(text));
  jest.spyOn(Logger.prototype, 'log').mockImplementation(take);
  jest.spyOn(Logger.prototype, 'warn').mockImplementation(take);
  const log = new EventLog();
  const filter = 'products';
  log.write({ type: 'circuit-closed', rejected: 1 });
  log.write({ type: 'failed-adds', filter, ids: 1, capacity: 1, method: 'A.b' });
  log.write({ type: 'adds-delayed', filter, times: 1, ms: 5 });
  log.write({ type: 'rebuild-started', filter, capacity: 1, bytes: 256, waitMs: 0 });
  log.write({ type: 'ids-skipped', filter, skipped: 1, example: "'x'", error: new Error('too long') });
  log.write({ type: 'rebuild-finished', filter, ids: 1, distinctIds: 1, durationMs: 1 });
  log.write({ type: 'add-queued', filter, queued: 1, error: new Error('down') });
  expect(texts.filter((text) => /\b1 (ids|lookups|times)\b/.test(text))).toEqual([]);
  expect(texts).toContain("Filter 'products': rebuilt with 1 id in 1 ms.");
  log.write({ type: 'rebuild-finished', filter: 'users', ids: 1234, distinctIds: 1234, durationMs: 1 });
  expect(texts.at(-1)).toBe("Filter 'users': rebuilt with 1,234 ids in 1 ms.");
  log.write({ type: 'rebuild-finished', filter: 'users', ids: 2, distinctIds: 2, durationMs: 12_533 });
  expect(texts.at(-1)).toBe("Filter 'users': rebuilt with 2 ids in 12.53 s.");
  log.write({ type: 'rebuild-started', filter, capacity: 1_100_000, bytes: 1_869_824, waitMs: 0 });
  expect(texts.at(-1)).toContain('for 1,100,000 ids in 1.78 MiB.');
});

it('begins warnings and errors with their code and ends them with the address of its entry, and writes each advice', () => {
  const texts: string[] = [];
  jest.spyOn(Logger.prototype, 'warn').mockImplementation((text) => void texts.push(String(text)));
  const log = new EventLog();
  const filter = 'products';
  log.write({ type: 'top-up-failed', filter, error: new Error('down') });
  log.write({ type: 'advice', filter, text: 'BLOOM_EVICTABLE: Redis may evict it.' });
  log.write({ type: 'advice', filter, text: 'BLOOM_NO_OWNER: It has none.' });
  log.write({ type: 'advice', filter, text: 'BLOOM_NO_OWNER: It has none.' });
  log.write({ type: 'advice', filter, text: 'A store of the application says this.' });
  const page = 'https://github.com/nestjs-bloom/nestjs-bloom/blob/main/docs/messages.md';
  expect(texts).toEqual([
    `BLOOM_TOP_UP_FAILED: Filter 'products': rows that others have written could not be added; they are read again. down ${page}#bloom_top_up_failed`,
    `BLOOM_EVICTABLE: Filter 'products': Redis may evict it. ${page}#bloom_evictable`,
    `BLOOM_NO_OWNER: Filter 'products': It has none. ${page}#bloom_no_owner`,
    `BLOOM_ADVICE: Filter 'products': A store of the application says this. ${page}#bloom_advice`,
  ]);
});
