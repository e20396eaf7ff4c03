import {
  ConsoleLogger,
  type DynamicModule,
  type INestApplication,
  type ModuleMetadata,
} from '@nestjs/common';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { ExpressAdapter } from '@nestjs/platform-express';
import { Test, type TestingModule } from '@nestjs/testing';
import { type BloomEvent, type BloomGuardDefaults, BloomModule, BloomService } from 'nestjs-bloom';
import type { TestFilter } from './test-filter.js';

export const PLATFORMS = ['express', 'fastify'] as const;
export type Platform = (typeof PLATFORMS)[number];

export interface TestBloomOptions {
  readonly filters: readonly TestFilter[];
  readonly events?: BloomEvent[];
  readonly defaults?: BloomGuardDefaults;
}

const SILENT = new ConsoleLogger({ logLevels: [] });

class TestFiltersModule {}

/** `BloomModule`, and filters that a test can make fail. */
export function testBloom({ filters, events = [], defaults }: TestBloomOptions): DynamicModule {
  return {
    module: TestFiltersModule,
    imports: [BloomModule.forRoot({ onEvent: (event) => events.push(event), guard: defaults })],
    providers: [
      {
        provide: 'registration',
        inject: [BloomService],
        useFactory: (service: BloomService) => filters.forEach((filter) => service.register(filter)),
      },
    ],
  };
}

/** A Nest application without a server, initialised. */
export async function startContext(metadata: ModuleMetadata): Promise<TestingModule> {
  return (await Test.createTestingModule(metadata).setLogger(SILENT).compile()).init();
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
  prepare: (app: INestApplication) => void = () => {},
): Promise<RunningApp> {
  const module = await Test.createTestingModule(metadata).setLogger(SILENT).compile();
  const adapter = platform === 'express' ? new ExpressAdapter() : new FastifyAdapter();
  const app = module.createNestApplication(adapter, { logger: SILENT });
  prepare(app);
  await app.listen(0, '127.0.0.1');
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
