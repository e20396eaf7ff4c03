import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { isIP } from 'node:net';
import type { PlatformRequest } from './exchange.js';

const COOKIE = 'bloom-dashboard';
/**
 * Where the page shows the token. A page of another origin cannot send it without being asked for by the
 * browser first.
 */
const TOKEN_HEADER = 'x-bloom-token';
const TOKEN = /^[\w-]{43}$/;

/**
 * The token of this browser, and the cookie that keeps it. The same token comes back in the cookie, which no
 * other site makes the browser send, and in a header, which only the page knows. So any instance behind a
 * load balancer can compare them, without a secret that all share.
 */
export function tokenFor(request: PlatformRequest): { readonly token: string; readonly cookie: string } {
  const token = cookieOf(request) ?? randomBytes(32).toString('base64url');
  // Without a path: that of the page, as the browser sees it, also behind a proxy that takes a part of it
  // away.
  return { token, cookie: `${COOKIE}=${token}; HttpOnly; SameSite=Strict` };
}

/** Why an action is refused as one that another site may have caused; undefined when it is not. */
export function forgeryOf(request: PlatformRequest): string | undefined {
  if (!isOfSameOrigin(request)) return 'It came from a page of another origin.';
  const sent = request.headers[TOKEN_HEADER];
  const kept = cookieOf(request);
  if (typeof sent !== 'string' || kept === undefined || !isEqual(sent, kept))
    return 'Its token is missing or is not that of this browser. Load the page again.';
  return undefined;
}

/** By the header that browsers set and pages cannot change; they leave it out where the page has no HTTPS. */
export function isOfSameOrigin({ headers }: PlatformRequest): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin' || site === 'none';
  const { origin } = headers;
  if (origin === undefined) return true;
  if (!URL.canParse(origin)) return false;
  const { host } = new URL(origin);
  return hostsOf(headers).some((one) => one.toLowerCase() === host);
}

/**
 * The first host of a request that is not `localhost`, an address or one of `names`; undefined if all are.
 * A site whose name resolves to this server (DNS rebinding) has the same origin as the dashboard, so the
 * browser lets it read and send everything. Only its name tells it apart, and an address is not a name.
 */
export function foreignHostOf({ headers }: PlatformRequest, names: readonly string[]): string | undefined {
  const { origin } = headers;
  const hosts = [...hostsOf(headers), ...(origin === undefined ? [] : [origin.replace(/^https?:\/\//, '')])];
  return (hosts.length === 0 ? [''] : hosts).find((host) => {
    const name = hostNameOf(host);
    return name === undefined || !(name === 'localhost' || isAddress(name) || names.includes(name));
  });
}

/** The name of `name` or `name:port`, as browsers spell it; undefined for what is none. */
export function hostNameOf(host: string): string | undefined {
  return URL.canParse(`http://${host}`) ? new URL(`http://${host}`).hostname.replace(/\.$/, '') : undefined;
}

/** The host that the browser has asked for, as the server and the proxies before it report it. */
function hostsOf(headers: PlatformRequest['headers']): string[] {
  return [headers.host ?? headers[':authority'], headers['x-forwarded-host']]
    .flat()
    .flatMap((value) => value?.split(',') ?? [])
    .map((one) => one.trim());
}

function isAddress(name: string): boolean {
  return isIP(name.replace(/^\[(.*)\]$/, '$1')) !== 0;
}

function cookieOf({ headers }: PlatformRequest): string | undefined {
  for (const part of (headers.cookie ?? '').split(';')) {
    const [name, value = ''] = part.trim().split('=', 2);
    if (name === COOKIE && TOKEN.test(value)) return value;
  }
  return undefined;
}

function isEqual(a: string, b: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}
