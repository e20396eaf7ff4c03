import type { IncomingMessage, ServerResponse } from 'node:http';

/** A request and its response, as Express and Fastify alike have them below their own objects. */
export interface Exchange {
  /** What guards and the options of the user get: of Express or Fastify. */
  readonly request: PlatformRequest;
  readonly message: IncomingMessage;
  readonly response: ServerResponse;
}

/** What both platforms have. */
export interface PlatformRequest {
  readonly headers: IncomingMessage['headers'];
  readonly url: string;
  /** Set by Express: `url` before a router has taken its part away. */
  readonly originalUrl?: string;
  readonly params?: Record<string, string | undefined>;
  readonly body?: unknown;
  /** Set by Fastify. */
  readonly raw?: IncomingMessage;
}

/** A reply of Fastify, or a response of Express, which is one of Node. */
export type PlatformResponse = ServerResponse & { readonly raw?: ServerResponse; hijack?(): unknown };

/**
 * Takes the response over: from now on neither the platform nor an interceptor or a serializer of the
 * application changes what is sent, so that the page works in any of them.
 */
export function takeOver(request: PlatformRequest, response: PlatformResponse): Exchange {
  if (response.raw === undefined || response.hijack === undefined)
    return { request, message: request as unknown as IncomingMessage, response };
  response.hijack();
  return { request, message: request.raw!, response: response.raw };
}

export function pathOf(request: PlatformRequest): string {
  return (request.originalUrl ?? request.url).replace(/[?#].*$/s, '');
}

export function queryOf(request: PlatformRequest): URLSearchParams {
  const url = request.originalUrl ?? request.url;
  const at = url.indexOf('?');
  return new URLSearchParams(at === -1 ? '' : url.slice(at + 1));
}

export interface Answer {
  readonly status: number;
  readonly type: string;
  readonly body: string | Buffer;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * Nothing of another host is loaded, nothing inline is run, nobody frames the page, and text never becomes
 * markup. The type of a file is what the server says, and no cache between the two keeps it.
 */
const HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; " +
    "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=()',
  'x-robots-tag': 'noindex',
  'cache-control': 'no-store, no-transform',
};

/**
 * What an application gives all of its responses, and the dashboard gives to nobody: other origins do not
 * read it.
 */
const NOT_OURS = /^(access-control-|content-security-policy-report-only$)/;

/** Sets the headers that every answer of the dashboard has. */
export function setHeaders(response: ServerResponse): void {
  for (const name of response.getHeaderNames()) if (NOT_OURS.test(name)) response.removeHeader(name);
  for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value);
}

export function send({ response, message }: Exchange, { status, type, body, headers = {} }: Answer): void {
  if (response.headersSent || response.destroyed) return;
  setHeaders(response);
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  response.statusCode = status;
  if (status === 304) {
    response.end();
    return;
  }
  response.setHeader('content-type', type);
  response.setHeader('content-length', Buffer.byteLength(body));
  response.end(message.method === 'HEAD' ? undefined : body);
}

export function sendJson(exchange: Exchange, status: number, body: object): void {
  send(exchange, { status, type: 'application/json; charset=utf-8', body: JSON.stringify(body) });
}
