import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import type { INestApplication, ModuleMetadata } from '@nestjs/common';
import { BloomModule, BloomService, type BloomFilterOptions, type BloomModuleOptions } from 'nestjs-bloom';
import { BloomDashboardModule, type BloomDashboardOptions } from '../src/index.js';
import { type Platform, type RunningApp, startApp } from '../../../test/support/nest-app.js';

export const USER = { user: 'ada', password: 'a long password' };

export const idsOf = (...ids: string[]) => ({
  async *ids() {
    yield ids;
  },
});

export const PRODUCTS = {
  name: 'products',
  capacity: 1000,
  source: idsOf('a', 'b', 'c'),
  rebuild: { onBoot: 'never', drainMs: 0 },
} satisfies BloomFilterOptions;

export interface DashboardApp extends RunningApp {
  readonly url: string;
  readonly bloom: BloomService;
}

/** An application with a dashboard, ready to serve. */
export async function startDashboard({
  platform = 'express',
  dashboard = { auth: USER },
  bloom = {},
  metadata = {},
  prepare,
  bodyParser = true,
  forceCloseConnections = false,
  port = 0,
}: {
  platform?: Platform;
  dashboard?: BloomDashboardOptions;
  bloom?: BloomModuleOptions;
  metadata?: ModuleMetadata;
  prepare?: (app: INestApplication) => void;
  bodyParser?: boolean;
  forceCloseConnections?: boolean;
  port?: number;
} = {}): Promise<DashboardApp> {
  const app = await startApp(
    platform,
    {
      ...metadata,
      imports: [
        BloomModule.forRoot({ logger: false, filters: [PRODUCTS], ...bloom }),
        BloomDashboardModule.forRoot(dashboard),
        ...(metadata.imports ?? []),
      ],
    },
    prepare,
    { bodyParser, forceCloseConnections, port },
  );
  return {
    ...app,
    url: (await app.app.getUrl()).replace('[::1]', '127.0.0.1'),
    bloom: app.app.get(BloomService),
  };
}

export function basic({ user, password } = USER): string {
  return `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
}

/** What a browser keeps of an opened page: enough to act. */
export async function openPage(
  page: string,
  headers: Record<string, string> = { authorization: basic() },
): Promise<Record<string, string>> {
  const response = await fetch(page, { headers });
  const html = await response.text();
  const cookie = response.headers.get('set-cookie')?.split(';')[0];
  const token = /name="bloom-token" content="([^"]+)"/.exec(html)?.[1];
  if (!cookie || !token) throw new Error(`Expected a page with a token at ${page}, got ${response.status}.`);
  return { ...headers, cookie, 'x-bloom-token': token, 'content-type': 'application/json' };
}

export interface StreamEvent {
  readonly event: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- compared by the tests
  readonly data: any;
}

/**
 * The answer to a request for a stream, on a connection of its own: the pool of `fetch` connects again when
 * one is aborted, and nobody ends that.
 */
export async function openStream(
  url: string,
  headers: Record<string, string> = { authorization: basic() },
): Promise<IncomingMessage> {
  const asked = get(url, { headers, agent: false });
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  return response;
}

/** Reads a stream until an event holds, and closes it. */
export async function streamed(
  url: string,
  holds: (event: StreamEvent) => boolean,
  headers?: Record<string, string>,
): Promise<StreamEvent> {
  const response = await openStream(url, headers);
  try {
    if (response.statusCode !== 200)
      throw new Error(`Expected a stream at ${url}, got ${response.statusCode}.`);
    let text = '';
    for await (const chunk of response.setEncoding('utf8')) {
      text += chunk as string;
      for (let at = text.indexOf('\n\n'); at !== -1; at = text.indexOf('\n\n')) {
        const block = text.slice(0, at);
        text = text.slice(at + 2);
        const [, event = '', data = ''] = /^event: (.*)\ndata: (.*)$/.exec(block) ?? [];
        const read = data === '' ? undefined : { event, data: JSON.parse(data) as unknown };
        if (read && holds(read)) return read;
      }
    }
  } finally {
    response.destroy();
  }
  throw new Error(`Expected more of the stream at ${url}, and it ended.`);
}
