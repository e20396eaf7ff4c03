import { describeError, escaped } from '../common/index.js';

export const doesNotStart = (app: string | undefined, error: unknown) =>
  `The application of ${app} does not start: ${describeError(error)}`;

export const NO_LIFECYCLE = 'no lifecycle of BloomModule was made';

export const hasNoFilters = (app: string | undefined) =>
  `The application of ${app} has no filters: expected BloomModule.forRoot(…) among the imports of its modules.`;

export const NO_APP_FILE =
  'Expected --app with the compiled file of the root module, such as --app dist/app.module.js.';

export const noSuchApp = (app: string) =>
  `Expected --app to name a file, got '${app}': there is none. Compile the application first.`;

export const appNotCompiled = (app: string) =>
  `Expected --app to name compiled JavaScript, got '${app}'. Compile the application, and give dist/app.module.js.`;

export const appIsStarter = (app: string) =>
  `Expected --app to name the file of the root module, got '${app}', which starts the application. Give dist/app.module.js.`;

export const cannotBeLoaded = (app: string, error: unknown) =>
  `${app} cannot be loaded: ${describeError(error)}`;

export const packageMissing = (name: string, app: string, error: unknown) =>
  `Expected the package '${name}' where ${app} finds it: ${describeError(error)}`;

export const moduleNotExported = (app: string, expected: string, there: string) =>
  `Expected ${app} to export ${expected}. ${there}Name the root module with --export.`;

export const fileOfOtherFilter = (name: string, filter: string) =>
  `Expected a file of the filter '${name}', got one of '${escaped(filter)}'.`;

export const notAnExport = (error: unknown) =>
  `Expected --file to name a file that export has written: ${describeError(error)}.`;

export const notHex = (text: string) => `Expected the bytes of an id in hexadecimal digits, got '${text}'.`;

export const noSuchNormalize = (known: string, normalize: string) =>
  `Expected --normalize to be one of ${known}, got '${normalize}'.`;

export const noSuchKind = (known: string, kind: string) =>
  `Expected --kind to be one of ${known}, got '${kind}'.`;

export const OUTPUT_TO_TERMINAL =
  'Expected the output to go to a file: nestjs-bloom export products > products.bloom';

export const notOfBlocked = (layout: string) =>
  `Expected a filter of layout blocked, got '${layout}': only that is a file of its own.`;

export const nothingToExport = (name: string, state: string, reason: string) =>
  `Filter '${name}' is ${state}: ${reason}`;

export const notReadyAnyMore = (name: string) => `Filter '${name}' is not ready any more. Export it again.`;

export const EXPORT_CUT_SHORT =
  'Another generation went live meanwhile, or a key is gone: the file is cut short. Export it again.';

export const NO_IMPORT =
  'There is no import, on purpose. A filter answers "absent" for what it does not have, and a file does not have the ids that were added after its export: their rows ' +
  'would be answered as if they were not there. To warm a filter up, or to make it in another region, rebuild it from its source there: ' +
  'nestjs-bloom rebuild products --app dist/app.module.js. To look into a file: nestjs-bloom inspect products --file products.bloom, or ' +
  'nestjs-bloom check products <id> --file products.bloom.';

export const NOT_A_FILTER_FILE =
  'Expected a file that "nestjs-bloom export" has written, got something else.';

export const otherFileVersion = (version: number, otherVersion: number) =>
  `Expected a file of version ${version}, got version ${otherVersion}. Upgrade nestjs-bloom.`;

export const FILE_DAMAGED = 'The file is cut short or damaged: its checksum is another one. Export it again.';

export const FILE_HEADER_NONSENSE = 'The header of the file makes no sense. Export it again.';

export const FILE_BLOCKS_MISSING =
  'The file does not have as many blocks as its header says. Export it again.';

export const noSuchLayout = (known: string, layout: string) =>
  `Expected --layout to be one of ${known}, got '${layout}'.`;

export const NOT_A_COUNT = 'Expected a whole number of at least 1.';

export const wrongNumber = (expected: string, text: string) => `Expected ${expected}, got '${text}'.`;

export const inMemoryOfTheApp = (filter: string) =>
  `Filter '${filter}' is in the memory of each process of the application (BloomModule has no option redis here): a rebuild in this process ` +
  'would change nothing there. Set redis, perhaps by the environment that the application runs in.';

export const interruptedBy = (name: string) => `The command was interrupted by ${name}.`;

export const rebuildInterrupted = (name: string) =>
  `The rebuild of '${name}' was interrupted: the filter is as it was.`;

export const wrongPrefix = (prefix: string) =>
  `Expected --prefix without braces and spaces, got '${prefix}'.`;

export const IOREDIS_MISSING =
  "Expected the package 'ioredis' beside nestjs-bloom, to speak to Redis. Run the command in the folder of your application, or: npx -p " +
  'nestjs-bloom -p ioredis nestjs-bloom …';

export const cannotReach = (shown: string, why: string, advice: string) =>
  `Cannot reach Redis at ${shown}: ${why}. ${advice}`;

export const redisNotGiven = (example: string) => `Expected where Redis is, got nothing. ${example}`;

export const wrongNodes = (file: string | undefined, got: string) =>
  `Expected "cluster" in ${file} to be a list of { "host", "port" }, got ${got}.`;

export const redisOptionsNotRead = (error: unknown) =>
  `Expected --redis-options to name a file with options of ioredis as JSON: ${describeError(error)}.`;

export const NO_OBJECT = 'it is no object';

export const wrongRedisOptions = (file: string, why: string) =>
  `Expected ${file} to hold options of ioredis as JSON, such as { "host": "redis.example", "port": 6380, "tls": { "ca": "file:ca.pem" } }: ${why}.`;

export const wrongScheme = (schemes: string, url: string, example: string) =>
  `Expected --redis to begin with ${schemes}, got ${url}. ${example}`;

export const hasQuery = (url: string) =>
  `Expected --redis without ?…, got ${url}. Put other options into --redis-options.`;

export const notADatabase = (path: string) =>
  `Expected the path of --redis to be the number of a database, got '/${path}'.`;

export const NO_MASTER_NAME =
  'Expected the name of the master after the sentinels: redis+sentinel://host:26379/mymaster.';

export const SEVERAL_HOSTS =
  'Expected one host, got several. Write redis+sentinel:// or redis+cluster:// for several.';

export const noPort = (url: string) => `Expected host:port in --redis, got ${url}.`;
