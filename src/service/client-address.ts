import { isIPv6 } from 'node:net';
import type { ExecutionContext } from '@nestjs/common';

/** What is given to one customer: who has one address of IPv6 has 2^64 of them. */
const GROUPS_OF_A_NETWORK = 4;
const GROUPS = 8;
const IPV4_IN_IPV6 = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;

/**
 * The address of a HTTP request, for the option `attack.client`: that of IPv4 as it is, of IPv6 the network of 64 bits. It is `request.ip`, so behind a proxy
 * set `trust proxy` (Express) or `trustProxy` (Fastify) to that proxy alone. Undefined for what is no HTTP request.
 */
export function clientAddress(context: ExecutionContext): string | undefined {
  if (context.getType() !== 'http') return undefined;
  const { ip } = context.switchToHttp().getRequest<{ readonly ip?: string }>();
  return ip === undefined ? undefined : networkOf(ip);
}

function networkOf(address: string): string {
  const ipv4 = IPV4_IN_IPV6.exec(address)?.[1];
  if (ipv4 !== undefined) return ipv4;
  const [bare = ''] = address.split('%');
  if (!isIPv6(bare)) return address;
  const [head = '', tail = ''] = bare.split('::');
  const [first, last] = [head, tail].map((part) => (part === '' ? [] : part.split(':')));
  const zeros = bare.includes('::') ? GROUPS - first!.length - last!.length : 0;
  const groups = [...first!, ...Array.from({ length: zeros }, () => '0'), ...last!];
  const network = groups
    .slice(0, GROUPS_OF_A_NETWORK)
    .map((group) => Number.parseInt(group, 16).toString(16));
  return `${network.join(':')}::/64`;
}
