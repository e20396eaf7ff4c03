import { ConsoleLogger, type INestApplication, type ModuleMetadata } from '@nestjs/common';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { ExpressAdapter } from '@nestjs/platform-express';
import { Test, type TestingModule } from '@nestjs/testing';

export const PLATFORMS = ['express', 'fastify'] as const;
export type Platform = (typeof PLATFORMS)[number];

const SILENT = new ConsoleLogger({ logLevels: [] });

/** A Nest application without a server, initialised. */
export async function startContext(metadata: ModuleMetadata): Promise<TestingModule> {
  const module = await Test.createTestingModule(metadata).setLogger(SILENT).compile();
  await closedUnless(module, () => module.init());
  return module;
}

/** Nest leaves open what does not start: clients that connect again and again to servers that have gone. */
async function closedUnless(app: { close(): Promise<void> }, starts: () => Promise<unknown>): Promise<void> {
  try {
    await starts();
  } catch (error) {
    await app.close();
    throw error;
  }
}

export interface RunningApp {
  readonly app: INestApplication;
  get(path: string, init?: RequestInit): Promise<{ status: number; body: unknown }>;
  close(): Promise<void>;
}

/** A Nest application on a free port of the loopback interface. */
export async function startApp(
  platform: Platform,
  metadata: ModuleMetadata,
  prepare: (app: INestApplication) => unknown = () => {},
  {
    port = 0,
    ...options
  }: {
    readonly bodyParser?: boolean;
    readonly forceCloseConnections?: boolean;
    readonly port?: number;
  } = {},
): Promise<RunningApp> {
  const module = await Test.createTestingModule(metadata).setLogger(SILENT).compile();
  const adapter = platform === 'express' ? new ExpressAdapter() : new FastifyAdapter();
  const app = module.createNestApplication(adapter, { logger: SILENT, ...options });
  await prepare(app);
  await closedUnless(app, () => app.listen(port, '127.0.0.1'));
  const url = await app.getUrl();
  return {
    app,
    async get(path, init) {
      const response = await fetch(url + path, init);
      const text = await response.text();
      return { status: response.status, body: parsed(text) };
    },
    close: () => app.close(),
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
