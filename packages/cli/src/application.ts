import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, extname, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { INestApplicationContext, LoggerService } from '@nestjs/common';
import type * as NestCore from '@nestjs/core';
import { describeError } from 'nestjs-bloom/internal';
import { RUN_BY_TOOL, type ToolHandle } from 'nestjs-bloom/integrations';
import type { BloomFilter, BloomService } from 'nestjs-bloom';
import { CliError, usageError } from './cli-error.js';
import {
  doesNotStart,
  NO_LIFECYCLE,
  hasNoFilters,
  isOnNest10,
  NO_APP_FILE,
  noSuchApp,
  appNotCompiled,
  appIsStarter,
  cannotBeLoaded,
  packageMissing,
  moduleNotExported,
} from './cli.messages.js';

export interface ApplicationWords {
  /** The compiled file of a module. */
  readonly app?: string;
  /** The name under which the file exports it. */
  readonly export?: string;
}

/** An application that serves nothing and has no schedules. */
export interface Application {
  readonly service: BloomService;
  /** What in the setup endangers its filters. */
  advise: ToolHandle['advise'];
  close(): Promise<void>;
}

type RootModule = Parameters<typeof NestCore.NestFactory.createApplicationContext>[0];

/** An application as it was typed, with the packages that it uses itself. */
interface LoadedModule {
  readonly module: unknown;
  readonly core: typeof NestCore;
  readonly serviceToken: typeof BloomService;
}

/**
 * Makes the application context: every provider, and no listener. Jobs of `@nestjs/schedule` and those of
 * filters do not run.
 *
 * @param complain is called with what the application logs: warnings and errors.
 * @throws {CliError} when the module cannot be loaded, or its application does not start.
 */
export async function bootApplication(
  words: ApplicationWords,
  complain: (text: string) => void,
): Promise<Application> {
  const { module, core, serviceToken } = await loadModule(words);
  let tool: ToolHandle | undefined;
  let isShown = false;
  const instanceDecorator = (instance: unknown) => {
    isShown = true;
    tool ??= toolOf(instance);
    silenceSchedules(instance);
    return instance;
  };
  let context: INestApplicationContext;
  try {
    context = await core.NestFactory.createApplicationContext(module as RootModule, {
      logger: loggerTo(complain),
      abortOnError: false,
      instrument: { instanceDecorator },
    });
  } catch (error) {
    throw new CliError(doesNotStart(words.app, error), undefined, {
      cause: error,
    });
  }
  try {
    if (!tool) throw new Error(NO_LIFECYCLE);
    const { advise } = tool;
    return { service: context.get(serviceToken, { strict: false }), advise, close: () => context.close() };
  } catch (cause) {
    await context.close();
    throw new CliError(isShown ? hasNoFilters(words.app) : isOnNest10(words.app), undefined, { cause });
  }
}

/** @throws {BloomConfigError} when the application has no such filter: which ones there are. */
export function filterOf({ service }: Application, name: string): BloomFilter {
  return service.filter(name);
}

async function loadModule({ app, export: exported }: ApplicationWords): Promise<LoadedModule> {
  if (app === undefined) {
    throw usageError(NO_APP_FILE);
  }
  const path = resolve(app);
  if (!existsSync(path)) throw usageError(noSuchApp(app));
  if (['.ts', '.mts', '.cts'].includes(extname(path))) throw usageError(appNotCompiled(app));
  if (/^main\.[cm]?js$/.test(basename(path))) throw usageError(appIsStarter(app));
  // By the place of the main module an application finds its name, under which it claims filters.
  process.argv[1] = path;
  const require = createRequire(path);
  const core = await importOf<typeof NestCore>(require, '@nestjs/core', app);
  const bloom = await importOf<{ BloomService: typeof BloomService }>(require, 'nestjs-bloom', app);
  let exports: Record<string, unknown>;
  try {
    exports = (await import(pathToFileURL(path).href)) as Record<string, unknown>;
  } catch (error) {
    throw new CliError(cannotBeLoaded(app, error), undefined, { cause: error });
  }
  return { module: rootModule(exports, exported, app), core, serviceToken: bloom.BloomService };
}

/** A package as the application finds it. */
async function importOf<Package>(require: NodeJS.Require, name: string, app: string): Promise<Package> {
  try {
    return (await import(pathToFileURL(require.resolve(name)).href)) as Package;
  } catch (error) {
    throw new CliError(packageMissing(name, app, error), undefined, {
      cause: error,
    });
  }
}

function rootModule(exports: Record<string, unknown>, named: string | undefined, app: string): unknown {
  const all = { ...(exports['default'] as object | undefined), ...exports };
  const names = Object.keys(all).filter((name) => isModule(all[name as keyof typeof all]));
  const found = named === undefined ? (names.includes('AppModule') ? 'AppModule' : onlyOne(names)) : named;
  if (found !== undefined && names.includes(found)) return all[found as keyof typeof all];
  const there = names.length > 0 ? `Exported are: ${names.join(', ')}. ` : 'No class is exported there. ';
  throw usageError(moduleNotExported(app, named === undefined ? 'AppModule' : `'${named}'`, there));
}

function onlyOne(names: readonly string[]): string | undefined {
  return names.length === 1 ? names[0] : undefined;
}

/** A class, or a dynamic module. */
function isModule(value: unknown): boolean {
  return typeof value === 'function' || (typeof value === 'object' && value !== null && 'module' in value);
}

function toolOf(instance: unknown): ToolHandle | undefined {
  const run = (instance as { [RUN_BY_TOOL]?: () => ToolHandle } | null | undefined)?.[RUN_BY_TOOL];
  return typeof run === 'function' ? run.call(instance) : undefined;
}

/** What starts the jobs of `@nestjs/schedule`, which exports no name for it. */
function silenceSchedules(instance: unknown): void {
  if (typeof instance !== 'object' || instance === null) return;
  const orchestrator = instance as Record<string, unknown>;
  const methods = ['mountCron', 'mountIntervals', 'mountTimeouts', 'onApplicationBootstrap'];
  if (methods.every((name) => typeof orchestrator[name] === 'function')) {
    orchestrator['onApplicationBootstrap'] = () => {};
  }
}

function loggerTo(complain: (text: string) => void): LoggerService {
  const tell = (message: unknown, ...others: unknown[]) => {
    const context = others.at(-1);
    complain(
      `${typeof context === 'string' && context.length < 100 ? `[${context}] ` : ''}${describeError(message)}`,
    );
  };
  return { log: () => {}, debug: () => {}, verbose: () => {}, warn: tell, error: tell, fatal: tell };
}
