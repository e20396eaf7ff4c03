import type { ExecutionContext } from '@nestjs/common';
import { expect, it } from '@jest/globals';
import { clientAddress } from '../../src/service/client-counts.js';

const addressOf = (ip: string | undefined, type = 'http') =>
  clientAddress({
    getType: () => type,
    switchToHttp: () => ({ getRequest: () => ({ ip }) }),
  } as unknown as ExecutionContext);

it.each([
  ['192.0.2.7', '192.0.2.7'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['::FFFF:192.0.2.7', '192.0.2.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:DB8:1:2:ffff::', '2001:db8:1:2::/64'],
  ['2001:0db8:0001:0002::9', '2001:db8:1:2::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['1:2::4:5:6:7:8', '1:2:0:4::/64'],
  ['::1', '0:0:0:0::/64'],
  ['::', '0:0:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['not an address', 'not an address'],
])('names the client at %s as %s', (ip, client) => {
  expect(addressOf(ip)).toBe(client);
});

it('names no client where there is no address, or no HTTP request', () => {
  expect(addressOf(undefined)).toBeUndefined();
  expect(addressOf('192.0.2.7', 'rpc')).toBeUndefined();
});
