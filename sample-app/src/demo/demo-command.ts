import { once } from 'node:events';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { BloomUnavailableError } from 'nestjs-bloom';
import type { Catalogue } from '../catalogue/catalogue.js';
import { readCatalogue } from '../catalogue/read-catalogue.js';
import { readShopConfig } from '../shop.config.js';
import { startShop } from '../start-shop.js';
import { type DemoArguments, parseDemoArguments, parsePort, USAGE, UsageError } from './demo-arguments.js';
import { type AttackSizes, DemoAttacks } from './demo-attacks.js';
import { Demo, type DemoSizes } from './demo.js';
import type { DemoResult } from './demo-result.js';
import type { RunLoad } from './load.js';
import { Progress, type ProgressStream } from './progress.js';
import { renderTable } from './result-table.js';
import { StandardErrorLogger } from './standard-error.logger.js';

export interface DemoCommand {
  readonly words: readonly string[];
  readonly environment: NodeJS.ProcessEnv;
  readonly stdout: { write(text: string): unknown };
  readonly stderr: ProgressStream;
  readonly runLoad: RunLoad;
  readonly sizes: DemoSizes & { readonly generatedProducts: number; readonly generatedOrders: number };
  /** Ends the demo, or the shop that serves on after it. */
  readonly signal: AbortSignal;
}

export const DEMO_SIZES: DemoCommand['sizes'] = {
  users: 32,
  requestsPerPhase: 30_000,
  maxMsPerPhase: 5_000,
  generatedProducts: 50_000,
  generatedOrders: 50_000,
};

/** @returns the exit code: 0, 1 for a wrong answer or an error, 2 for arguments that do not exist. */
export async function runDemoCommand(command: DemoCommand): Promise<number> {
  const { stdout, stderr, signal } = command;
  try {
    const given = parseDemoArguments(command.words);
    if (!given.help) return await demonstrate(given, command);
    stdout.write(USAGE);
    return 0;
  } catch (error) {
    if (signal.aborted) return 0;
    if (error instanceof UsageError) {
      stderr.write(`${error.message}\n\n${USAGE}`);
      return 2;
    }
    const expected =
      error instanceof BloomUnavailableError ? 'Expected the Redis server of REDIS_URL to answer. ' : '';
    stderr.write(`${expected}${(error as Error).message}\n`);
    return 1;
  }
}

async function demonstrate(given: DemoArguments, command: DemoCommand): Promise<number> {
  const { environment, stdout, stderr, runLoad, sizes, signal } = command;
  const progress = new Progress(stderr);
  const port = parsePort(environment['PORT']);
  const catalogue = await readCatalogue({
    file: environment['CATALOG'],
    generatedProducts: sizes.generatedProducts,
  });
  progress.show('starting the shop', 0);
  const attacks = new DemoAttacks({ catalogue, sizes: attackSizes(sizes), runLoad });
  const shop = readShopConfig(environment);
  const app = await startShop({
    config: {
      ...shop,
      initialProducts: catalogue.products,
      initialOrders: sizes.generatedOrders,
      dashboard: { ...shop.dashboard, actions: attacks.actions() },
    },
    logger: new StandardErrorLogger('Shop', { logLevels: ['warn', 'error', 'fatal'] }),
    port,
  });
  try {
    attacks.port = portOf(app);
    const orders = sizes.generatedOrders;
    const demo = new Demo({ app, port: attacks.port, catalogue, orders, sizes, runLoad, progress, signal });
    const result = await demo.run();
    stdout.write(given.json ? `${JSON.stringify(result)}\n` : report(result));
    if (!given.exit) await serveOn({ app, catalogue, progress, signal });
    return result.phases.some(({ wrongAbsent }) => wrongAbsent > 0) ? 1 : 0;
  } finally {
    await app.close();
  }
}

/** Longer than a phase, so that there is something to watch. */
function attackSizes({ users, requestsPerPhase, maxMsPerPhase }: DemoSizes): AttackSizes {
  return { users, maxRequests: 10 * requestsPerPhase, maxMs: 2 * maxMsPerPhase };
}

function report(result: DemoResult): string {
  const { catalog, store, phases } = result;
  const source = catalog.source === 'generated' ? 'generated' : `from ${catalog.source}`;
  return `\n${catalog.products.toLocaleString('en')} products ${source}, filters in ${store}\n\n${renderTable(phases)}\n`;
}

async function serveOn(shop: {
  app: NestFastifyApplication;
  catalogue: Catalogue;
  progress: Progress;
  signal: AbortSignal;
}): Promise<void> {
  const url = `http://127.0.0.1:${portOf(shop.app)}`;
  const sku = encodeURIComponent(shop.catalogue.products[0]!.sku);
  const json = `-H 'content-type: application/json' -d`;
  shop.progress.line(
    [
      `The shop goes on serving; Ctrl-C ends it. Its dashboard, with a button that attacks it: ${url}/bloom/`,
      'To try:',
      `  curl ${url}/products/${sku}`,
      `  curl ${url}/products/no-such-sku              # neither cache nor database is asked`,
      `  curl ${url}/unguarded/products/no-such-sku    # both are`,
      `  curl ${url}/orders/10                         # a number of the database, of no order`,
      `  curl ${url}/statistics`,
      `  curl ${url}/products ${json} '{ "sku": "my sku", "description": "Mine", "unitPrice": 1.5 }'`,
      `  curl ${url}/customers ${json} '{ "phone": "+44 20 7946 0018", "name": "Ada" }'`,
      `  curl ${url}/flash-sale/summer/entries ${json} '{ "customerId": "ada" }'`,
    ].join('\n'),
  );
  if (!shop.signal.aborted) await once(shop.signal, 'abort');
}

function portOf(app: NestFastifyApplication): number {
  const address = app.getHttpServer().address();
  if (address === null || typeof address === 'string')
    throw new Error(`Expected a TCP address, got ${address}.`);
  return address.port;
}
