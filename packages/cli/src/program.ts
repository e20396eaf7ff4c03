import { readFileSync } from 'node:fs';
import { Argument, Command, CommanderError, InvalidArgumentError } from 'commander';
import { BloomError } from 'nestjs-bloom/filter';
import { describeError } from 'nestjs-bloom/internal';
import type { Application, ApplicationWords } from './application.js';
import type { CheckWords } from './check-command.js';
import { CliError, EXIT } from './cli-error.js';
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
  terminal.complain(`${terminal.styled('red', 'error:')} ${describeError(error)}`);
  const isExpected = error instanceof CliError || isBloomError(error);
  if (!isExpected || environment['DEBUG']) terminal.complain((error as Error).stack ?? '');
  return error instanceof CliError ? error.exitCode : EXIT.failed;
}

/** Also one of another copy of this package. */
function isBloomError(error: unknown): boolean {
  return error instanceof BloomError || String((error as { code?: unknown }).code).startsWith('BLOOM_');
}

function programOf({ terminal, environment }: CliContext, end: (exitCode: number) => void): Command {
  const program = new Command('nestjs-bloom')
    .description('Plans, inspects and rebuilds the filters of nestjs-bloom.')
    .version(version(), '-V, --version')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void terminal.output.write(text),
      writeErr: (text) => terminal.complain(text.trimEnd()),
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    })
    .showHelpAfterError('(add --help for what there is)')
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
    .description('Says what a filter takes.')
    .argument('<capacity>', 'ids to hold: 1e6, 1_000_000')
    .argument('<error-rate>', 'share of absent ids that pass: 0.001, 0.1%')
    .option('--layout <kind>', 'whose rules it is made by', 'blocked')
    .option('--json', 'prints JSON')
    .addHelpText('after', examples('plan 1e6 0.001', 'plan 50_000 1% --layout redisson --json'))
    .action((capacity: string, errorRate: string, words: PlanWords) =>
      end(plan(terminal, capacity, errorRate, words)),
    );

  program
    .command('estimate')
    .description('Says from access logs how many lookups are of ids that do not exist. Needs no Redis.')
    .argument('[files...]', 'logs in format common or combined, or JSON lines; none or -: standard input')
    .requiredOption('--route <path>', 'route that looks up an id: /products/:id')
    .option('--missing <statuses>', 'answers that mean: does not exist', '404')
    .option('--ids <number>', 'ids that exist, to say what a filter of them takes')
    .option('--skip', 'leaves out lines that cannot be read, and counts them')
    .option('--json', 'prints JSON')
    .addHelpText(
      'after',
      examples(
        'estimate access.log --route /products/:id --ids 1e6',
        'estimate --route /shops/:shop/orders/:id --missing 404,410 < access.log',
      ),
    )
    .action(async (files: string[], words: EstimateWords) => {
      const { estimate } = await import('./estimate-command.js');
      end(await estimate(terminal, files, words));
    });

  onRedis(program.command('inspect'))
    .description('Says what Redis has of a filter. Writes nothing.')
    .argument('<filter>', 'name of the filter')
    .option('--key <key>', 'of a filter on a key of another system: that key')
    .option('--walk <ms>', 'longest time to look for left-overs, by SCAN; 0: not at all', milliseconds, 5000)
    .option('--json', 'prints JSON')
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
    .description('Lists the filters that are in this Redis, by SCAN. Writes nothing.')
    .option('--json', 'prints JSON')
    .addHelpText('after', examples('list --redis redis://localhost:6379', 'list --prefix shop --json'))
    .action(({ prefix, ...words }: ListWords & Partial<RedisSessionWords>) =>
      withSession({ ...words, prefix: prefix ?? PREFIX } as RedisSessionWords, async (session) => {
        const { list } = await import('./list-command.js');
        return list(terminal, session, prefix, words);
      }),
    );

  onRedis(program.command('mode'))
    .description('Shows or sets how the guards of all processes use a filter.')
    .argument('<filter>', 'name of the filter')
    .addArgument(new Argument('[mode]', 'left out: shows it').choices(MODE_WORDS))
    .option('--by <name>', 'who sets it, for logs and pages (default: user@host)')
    .option('--key <key>', 'of a filter on a key of another system: that key')
    .option('--json', 'prints JSON')
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
    .description('Shows the keys of a filter, and deletes them with --yes. Exit code 1: nothing was deleted.')
    .argument('<filter>', 'name of the filter')
    .option('--yes', 'deletes them')
    .option('--force', 'also while processes report on the filter, or rebuild it')
    .option('--key <key>', 'of a filter on a key of another system: that key, which stays')
    .addHelpText('after', examples('drop products --redis redis://localhost:6379', 'drop products --yes'))
    .action((name: string, words: DropWords & RedisSessionWords) =>
      withSession(words, async (session) => {
        const { drop } = await import('./drop-command.js');
        return drop(terminal, session, name, words);
      }),
    );

  ofApplication(onRedis(program.command('check')))
    .description('Asks a filter for an id, and says why it answers so. Writes nothing. Exit code 1: unknown.')
    .argument('<filter>', 'name of the filter')
    .argument('<id>', 'the id; a number as its decimal text')
    .option(
      '--normalize <name>',
      'uuid, lowercase, integer, nfc, padded or objectId, as the option of the filter',
    )
    .option('--hex', 'the id is bytes, in hexadecimal digits')
    .option('--key <key>', 'of a filter on a key of another system: that key')
    .option('--json', 'prints JSON')
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
    .description('Rebuilds a filter of an application from its source. Exit code 1: refused, or failed.')
    .argument('<filter>', 'name of the filter')
    .option('--force', 'publishes a generation with no ids, or far fewer than the last')
    .option('--json', 'prints the report alone, as JSON')
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
      'Looks for what endangers filters: permissions, eviction, memory, persistence, role, clock, proxies, options. Exit code 0: fine, 1: warnings, 2: errors.',
    )
    .argument('[filters...]', 'names of filters to look at as well')
    .option('--kind <kind>', 'whose commands are tried: blocked, scaling, redisbloom or cuckoo', 'blocked')
    .option('--json', 'prints JSON')
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
    .option('--redis <url>', 'redis:// or rediss://, as ioredis reads it (default: $REDIS_URL)')
    .option('--redis-options <file>', 'options of ioredis as JSON: tls, sentinels, cluster')
    .option('--prefix <text>', 'keyPrefix of BloomModule', defaults.prefix)
    .option('--timeout <ms>', 'longest time to wait for Redis', milliseconds, 10_000);
}

function ofApplication(command: Command): Command {
  return command
    .option('--app <file>', 'compiled file of the root module: dist/app.module.js')
    .option('--export <name>', 'name under which that file exports it (default: AppModule, or the only one)');
}

function examples(...lines: readonly string[]): string {
  return `\nExamples:\n${lines.map((line) => `  $ npx @nestjs-bloom/cli ${line}`).join('\n')}`;
}

function milliseconds(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 0 || value >= 2 ** 31)
    throw new InvalidArgumentError('Expected milliseconds.');
  return value;
}

function version(): string {
  const file = new URL('../package.json', import.meta.url);
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}
