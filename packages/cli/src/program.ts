import { readFileSync } from 'node:fs';
import { Argument, Command, CommanderError, InvalidArgumentError } from 'commander';
import { withHelp } from 'nestjs-bloom/internal';
import type { Application, ApplicationWords } from './application.js';
import type { CheckWords } from './check-command.js';
import { CliError, EXIT, isBloomError, usageError, withCode } from './cli-error.js';
import { ROUTE_OR_FILTER } from './cli.messages.js';
import type { DoctorWords } from './doctor-command.js';
import type { InspectWords } from './inspect-command.js';
import type { DropWords } from './drop-command.js';
import type { EstimateWords } from './estimate-command.js';
import type { ListWords } from './list-command.js';
import { MODE_WORDS, MODES_EXPLAINED, type ModeWord } from './mode-words.js';
import type { ModeWords } from './mode-command.js';
import { plan, type PlanWords } from './plan-command.js';
import type { RebuildWords } from './rebuild-command.js';
import type { RedisSession, RedisSessionWords } from './redis-session.js';
import type { Terminal } from './terminal.js';

/** The keyPrefix that BloomModule has without one. */
const PREFIX = 'bloom';

export interface CliContext {
  readonly terminal: Terminal;
  readonly environment: NodeJS.ProcessEnv;
}

type EstimateCommandWords = Omit<EstimateWords, 'route'> &
  RedisSessionWords & { readonly route?: string; readonly filter?: string };

/** Runs what was typed; the exit code. */
export async function runCli(words: readonly string[], context: CliContext): Promise<number> {
  let exitCode: number = EXIT.fine;
  const program = programOf(context, (code) => (exitCode = code));
  try {
    await program.parseAsync([...words], { from: 'user' });
    return exitCode;
  } catch (error) {
    return exitCodeOf(error, context);
  }
}

/** Messages are for people; a stack is printed for what is a fault of this program alone. */
function exitCodeOf(error: unknown, { terminal, environment }: CliContext): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.fine : EXIT.usage;
  terminal.complain(`${terminal.styled('red', 'error:')} ${withHelp(withCode(error))}`);
  const isExpected = error instanceof CliError || isBloomError(error);
  if (!isExpected || environment['DEBUG']) terminal.complain((error as Error).stack ?? '');
  return error instanceof CliError ? error.exitCode : EXIT.failed;
}

function programOf({ terminal, environment }: CliContext, end: (exitCode: number) => void): Command {
  const program = new Command('nestjs-bloom')
    .description('Plan, inspect, switch and rebuild the Bloom filters of nestjs-bloom.')
    .version(version(), '-V, --version')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void terminal.output.write(text),
      writeErr: (text) => terminal.complain(text.trimEnd()),
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    })
    .showHelpAfterError('(run with --help for usage)')
    .addHelpText('after', '\nhttps://github.com/nestjs-bloom/nestjs-bloom/blob/main/docs/command-line.md');

  const withSession = async (words: RedisSessionWords, work: (session: RedisSession) => Promise<number>) => {
    const { openSession } = await import('./redis-session.js');
    const session = await openSession(words, environment);
    try {
      end(await work(session));
    } finally {
      await session.close();
    }
  };

  const withApplication = async (
    words: ApplicationWords,
    work: (application: Application) => Promise<number>,
  ) => {
    const { bootApplication } = await import('./application.js');
    const application = await bootApplication(words, (text) => terminal.complain(text));
    try {
      end(await work(application));
    } finally {
      await application.close();
    }
  };

  program
    .command('plan')
    .description("Plan a filter's size.")
    .argument('<capacity>', 'number of ids: 1e6, 1_000_000')
    .argument('<error-rate>', 'false-positive rate: 0.001, 0.1%')
    .option('--layout <kind>', 'layout to plan for', 'blocked')
    .option('--json', 'print JSON')
    .addHelpText('after', examples('plan 1e6 0.001', 'plan 50_000 1% --layout redisson --json'))
    .action((capacity: string, errorRate: string, words: PlanWords) =>
      end(plan(terminal, capacity, errorRate, words)),
    );

  onRedis(program.command('estimate'))
    .description('Show how many lookups are of ids that do not exist, what a guard saves, and what it costs.')
    .argument('[files...]', 'access logs (common, combined or JSON lines); none or -: standard input')
    .option('--route <path>', 'route that looks up an id: /products/:id')
    .option('--filter <name>', 'read what guards of this filter have counted, in place of logs')
    .option('--missing <statuses>', 'status codes that mean "does not exist"', '404')
    .option('--ids <number>', 'number of ids that exist, to show what the filter costs')
    .option('--skip', 'leave out lines that cannot be read, and count them')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      examples(
        'estimate access.log --route /products/:id --ids 1e6',
        'estimate --route /shops/:shop/orders/:id --missing 404,410 < access.log',
        'estimate --filter products --redis redis://localhost:6379',
      ),
    )
    .action(async (files: string[], words: EstimateCommandWords) => {
      const { route, filter } = words;
      if ((route === undefined) === (filter === undefined)) throw usageError(ROUTE_OR_FILTER);
      if (filter === undefined) {
        const { estimate } = await import('./estimate-command.js');
        return end(await estimate(terminal, files, { ...words, route: route! }));
      }
      return withSession(words, async (session) => {
        const { estimateFilter } = await import('./estimate-filter.js');
        return estimateFilter(terminal, session, filter, words);
      });
    });

  onRedis(program.command('inspect'))
    .description('Show what Redis holds for a filter. Read-only.')
    .argument('<filter>', 'name of the filter')
    .option('--key <key>', 'the key, for a filter on a key of another system')
    .option('--walk <ms>', 'longest SCAN for left-over keys; 0: none', milliseconds, 5000)
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      examples('inspect products --redis redis://localhost:6379', 'inspect products --json | jq .state'),
    )
    .action((name: string, words: InspectWords & RedisSessionWords) =>
      withSession(words, async (session) => {
        const { inspect } = await import('./inspect-command.js');
        return inspect(terminal, session, name, words);
      }),
    );

  onRedis(program.command('list'), { prefix: undefined })
    .description('List the filters in this Redis, by SCAN. Read-only.')
    .option('--json', 'print JSON')
    .addHelpText('after', examples('list --redis redis://localhost:6379', 'list --prefix shop --json'))
    .action(({ prefix, ...words }: ListWords & Partial<RedisSessionWords>) =>
      withSession({ ...words, prefix: prefix ?? PREFIX } as RedisSessionWords, async (session) => {
        const { list } = await import('./list-command.js');
        return list(terminal, session, prefix, words);
      }),
    );

  onRedis(program.command('mode'))
    .description("Show or set the mode of a filter's guards in all processes.")
    .argument('<filter>', 'name of the filter')
    .addArgument(new Argument('[mode]', 'new mode; without it the current one is shown').choices(MODE_WORDS))
    .option('--by <name>', 'your name, for logs and the dashboard (default: user@host)')
    .option('--key <key>', 'the key, for a filter on a key of another system')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `\n${MODES_EXPLAINED}\n${examples('mode products off --by "Ana, incident 4711"', 'mode products withdraw')}`,
    )
    .action((name: string, mode: ModeWord | undefined, words: ModeWords & RedisSessionWords) =>
      withSession(words, async (session) => {
        const { mode: showOrSet } = await import('./mode-command.js');
        return showOrSet(terminal, session, name, mode, words);
      }),
    );

  onRedis(program.command('drop'))
    .description(
      "Show a filter's keys, and delete them with --yes. Keys that are not certain to be the filter's stay. Exit code 1: nothing was deleted.",
    )
    .argument('<filter>', 'name of the filter')
    .option('--yes', 'delete them')
    .option('--force', 'delete even if a process uses or rebuilds the filter')
    .option('--key <key>', 'the key, for a filter on a key of another system; it stays')
    .addHelpText('after', examples('drop products --redis redis://localhost:6379', 'drop products --yes'))
    .action((name: string, words: DropWords & RedisSessionWords) =>
      withSession(words, async (session) => {
        const { drop } = await import('./drop-command.js');
        return drop(terminal, session, name, words);
      }),
    );

  ofApplication(onRedis(program.command('check')))
    .description('Show the verdict for an id, and why. Read-only. Exit code 1: unknown.')
    .argument('<filter>', 'name of the filter')
    .argument('<id>', 'the id; a number in decimal digits')
    .option(
      '--normalize <name>',
      "the filter's normalize option: uuid, lowercase, integer, nfc, padded or objectId",
    )
    .option('--hex', 'read the id as bytes in hexadecimal digits')
    .option('--key <key>', 'the key, for a filter on a key of another system')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      examples('check products A-1', 'check users 6F9619FF-8B86-D011-B42D-00CF4FC964FF --normalize uuid'),
    )
    .action(async (name: string, id: string, words: CheckWords & RedisSessionWords & ApplicationWords) => {
      const { check, checkInApplication } = await import('./check-command.js');
      return words.app === undefined
        ? withSession(words, (session) => check(terminal, session, name, id, words))
        : withApplication(words, (application) => checkInApplication(terminal, application, name, id, words));
    });

  ofApplication(program.command('rebuild'))
    .description(
      "Rebuild a filter from its source, with the application's code. Exit code 1: refused, or failed.",
    )
    .argument('<filter>', 'name of the filter')
    .option('--force', 'publish the build even if it has no ids, or far fewer than the last one')
    .option('--json', 'print the report alone, as JSON')
    .addHelpText(
      'after',
      examples(
        'rebuild products --app dist/app.module.js',
        'rebuild products --app dist/shop.js --export ShopModule --force',
      ),
    )
    .action(async (name: string, words: RebuildWords) => {
      const { rebuild } = await import('./rebuild-command.js');
      end(await rebuild(terminal, name, words));
    });

  ofApplication(onRedis(program.command('doctor')))
    .description(
      'Check Redis and the application for problems that put filters at risk: permissions, eviction, memory, persistence, role, clock, proxies, options. Exit code 0: fine, 1: warnings, 2: errors.',
    )
    .argument('[filters...]', 'names of filters to check as well')
    .option(
      '--kind <kind>',
      'kind of filter whose commands are tried: blocked, scaling, redisbloom or cuckoo',
      'blocked',
    )
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      examples('doctor products --redis redis://localhost:6379', 'doctor --app dist/app.module.js'),
    )
    .action(async (names: string[], words: DoctorWords & RedisSessionWords & ApplicationWords) => {
      const { doctor } = await import('./doctor-command.js');
      const { openSession } = await import('./redis-session.js');
      const { bootApplication } = await import('./application.js');
      const isOnRedis =
        words.app === undefined || words.redis !== undefined || words.redisOptions !== undefined;
      const places = {
        openSession: isOnRedis ? () => openSession(words, environment) : undefined,
        openApplication:
          words.app === undefined
            ? undefined
            : () => bootApplication(words, (text) => terminal.complain(text)),
      };
      end(await doctor(terminal, places, names, words));
    });

  return program;
}

/** @param defaults `prefix` undefined: every one */
function onRedis(command: Command, defaults: { prefix: string | undefined } = { prefix: PREFIX }): Command {
  return command
    .option('--redis <url>', 'redis:// or rediss:// URL (default: $REDIS_URL)')
    .option('--redis-options <file>', 'JSON file with ioredis options: tls, sentinels, cluster')
    .option('--prefix <text>', "BloomModule's keyPrefix", defaults.prefix)
    .option('--timeout <ms>', 'longest wait for Redis, in milliseconds', milliseconds, 10_000);
}

function ofApplication(command: Command): Command {
  return command
    .option('--app <file>', 'compiled root module: dist/app.module.js')
    .option('--export <name>', 'name of its export (default: AppModule, or the only one)');
}

function examples(...lines: readonly string[]): string {
  return `\nExamples:\n${lines.map((line) => `  $ npx @nestjs-bloom/cli ${line}`).join('\n')}`;
}

function milliseconds(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 0 || value >= 2 ** 31)
    throw new InvalidArgumentError('Expected a number of milliseconds.');
  return value;
}

function version(): string {
  const file = new URL('../package.json', import.meta.url);
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}
