import { Logger } from '@nestjs/common';
import { afterEach, expect, it, jest } from '@jest/globals';
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
  return String(error.mock.calls.at(-1)![0]);
}

it('writes an id that a client has chosen in one short line', () => {
  const text = logged('a\n[Nest] forged\r\u001b[2J\u202e\u2028\ud800\u0085');
  expect(text).toContain("'a\\u000a[Nest] forged\\u000d\\u001b[2J\\u202e\\u2028\\ud800\\u0085'");
  expect(text).toContain('1 of 3 absent answers');
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
