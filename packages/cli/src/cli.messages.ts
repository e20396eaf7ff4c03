import { describeError, plural, withHelp } from 'nestjs-bloom/internal';
import { withCode } from './cli-error.js';
import { processes } from './texts.js';

export const doesNotStart = (app: string | undefined, error: unknown) =>
  `The application of ${app} does not start: ${withHelp(withCode(error))}`;

export const NO_LIFECYCLE = 'BloomModule did not start';

export const hasNoFilters = (app: string | undefined) =>
  `The application of ${app} has no filters: expected BloomModule.forRoot(…) among the imports of its modules.`;

export const isOnNest10 = (app: string | undefined) =>
  `Expected the application of ${app} to use Nest 11 or 12: Nest 10 does not show a tool the parts of an application. Call filter.rebuild() in the application, or update Nest.`;

export const NO_APP_FILE =
  'Expected --app with the compiled file of the root module, such as --app dist/app.module.js.';

export const noSuchApp = (app: string) =>
  `Expected --app to name a file, got '${app}': there is none. Compile the application first.`;

export const appNotCompiled = (app: string) =>
  `Expected --app to name compiled JavaScript, got '${app}'. Compile the application, and give dist/app.module.js.`;

export const appIsStarter = (app: string) =>
  `Expected --app to name the file of the root module, got '${app}', which starts the application. Give dist/app.module.js.`;

export const cannotBeLoaded = (app: string, error: unknown) =>
  `${app} cannot be loaded: ${withHelp(withCode(error))}`;

export const packageMissing = (name: string, app: string, error: unknown) =>
  `Expected the package '${name}' where ${app} finds it: ${describeError(error)}`;

export const moduleNotExported = (app: string, expected: string, there: string) =>
  `Expected ${app} to export ${expected}. ${there}Name the root module with --export.`;

export const notHex = (text: string) => `Expected the bytes of an id in hexadecimal digits, got '${text}'.`;

export const noSuchNormalize = (known: string, normalize: string) =>
  `Expected --normalize to be one of ${known}, got '${normalize}'.`;

export const noSuchKind = (known: string, kind: string) =>
  `Expected --kind to be one of ${known}, got '${kind}'.`;

export const noSuchLayout = (known: string, layout: string) =>
  `Expected --layout to be one of ${known}, got '${layout}'.`;

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
  '@nestjs-bloom/cli -p ioredis nestjs-bloom …';

export const cannotReach = (shown: string, why: string, advice: string) =>
  `Cannot reach Redis at ${shown}: ${why}. ${advice}`;

export const redisNotGiven = () =>
  'Expected where Redis is, got nothing. Give --redis redis://localhost:6379 (rediss:// for TLS), or --redis-options file.json with options of ioredis ' +
  '(sentinels, or the nodes of a cluster under "cluster"), or set REDIS_URL.';

export const wrongNodes = (file: string, got: string) =>
  `Expected "cluster" in ${file} to be a list of { "host", "port" }, got ${got}.`;

export const urlBesideCluster = (file: string) =>
  `Expected no URL beside "cluster" in ${file}, got one. Put its user and password into ${file}, and leave out --redis.`;

export const redisOptionsNotRead = (error: unknown) =>
  `Expected --redis-options to name a file with options of ioredis as JSON: ${describeError(error)}.`;

export const NO_OBJECT = 'it is not an object';

export const wrongRedisOptions = (file: string, why: string) =>
  `Expected ${file} to hold options of ioredis as JSON, such as { "host": "redis.example", "port": 6380, "tls": { "ca": "file:ca.pem" } }: ${why}.`;

export const noKeys = (filter: string, keyPrefix: string, key: string | undefined) =>
  `There are no keys of filter '${filter}' ${key === undefined ? `with keyPrefix '${keyPrefix}'` : `beside the key '${key}'`}. The command list shows the filters in this Redis.`;

export const noneOwned = (filter: string) =>
  `Nothing was deleted: none of these keys is certain to be of filter '${filter}', since it has no metadata that this version can read. ` +
  'Delete with redis-cli what you know to be yours.';

export const othersStay = (number: number, shown: readonly string[]) =>
  `${plural(number, 'key')} not certain to be of this filter: ${shown.join(', ')}${number > shown.length ? ', …' : ''}`;

export const WAITING =
  'The metadata were read within the last 15 seconds. Waiting for up to 15 seconds to see whether a process reads them again …';

export const reportedBy = (instances: number) =>
  `${processes(instances)} reported on it within the last seconds`;

export const REBUILT = 'a process rebuilds it';

export const READ_BY_OTHERS = 'a process reads its metadata';

export const READS_UNKNOWN =
  'This server does not say when a key was read last (it evicts by frequency, or refuses OBJECT): only processes that report were looked for.';

export const UNSEEN =
  'Not seen are idle processes with heartbeat: false, and those that do not run now. See that no process uses the filter.';

export const inUse = (filter: string, reasons: string) =>
  `Nothing was deleted: ${reasons}. Remove filter '${filter}' from the application first, and wait 15 seconds, or give --force: lookups are then ` +
  'unknown and reach the database until it is rebuilt, and a filter without a source loses its ids.';

export const NOT_DROPPED = 'Nothing was deleted. Give --yes to delete these keys.';

export const NEXT_AFTER_DROP =
  'Processes that still have the filter let every lookup through (unknown) until it is rebuilt. Without a source its ids are lost: a process that ' +
  "starts with create: 'first-start' makes it empty.";

export const noSuchFilter = (filter: string, keyPrefix: string) =>
  `There is no filter '${filter}' with keyPrefix '${keyPrefix}': Redis has neither metadata nor reports of one. The command list shows the filters ` +
  'in this Redis; --prefix, --key and the number of the database say where one is.';

export const NO_BY = 'Expected --by to name who sets the mode, in at most 200 characters.';

export const wrongRoute = (route: string) =>
  `Expected --route to be a path with the id as a parameter, such as /products/:id, got '${route}'. Name the id :id where there are several parameters.`;

export const LOG_EXPECTED =
  'Expected the names of access logs, or one on the standard input: zcat access.log.*.gz | … estimate --route /products/:id';

export const logNotRead = (file: string, why: string) => `Expected '${file}' to be an access log: ${why}.`;

const SHOWN = 120;

export const unreadableLine = (place: string, line: string) =>
  line.startsWith('\u001f')
    ? `${place}: expected an access log, got a compressed file. Give it on the standard input: zcat access.log.gz | … estimate …`
    : `${place}: expected a line of an access log (common or combined format, or JSON), got '${line.slice(0, SHOWN)}${line.length > SHOWN ? '…' : ''}'. ` +
      'Give --skip to leave out such lines.';

export const lineTooLong = (place: string, most: number) =>
  `${place}: expected a line of an access log, got one of more than ${most} characters.`;

export const noRequests = (lines: number) =>
  `Expected requests in the log, got none in ${plural(lines, 'line')}. JSON needs a path (url, uri, path, request_uri, req.url or request.uri) and ` +
  'a status (status, statusCode or res.statusCode) in each line.';

export const noLookups = (route: string, requests: number, path: string) =>
  `None of ${plural(requests, 'request')} is a lookup of ${route}. The first one was of '${path}': give --route the whole path, with prefixes.`;

export const ROUTE_OR_FILTER =
  'Expected --route with the path that looks up an id, such as /products/:id, to read access logs. Or give --filter with the name of a filter, to read ' +
  'what its guards have counted.';

export const nothingReported = (filter: string, keyPrefix: string) =>
  `No process reports on filter '${filter}' with keyPrefix '${keyPrefix}'. They do while a mode for all is set: run mode ${filter} shadow, which blocks nothing, ` +
  'and ask again after a day. Or set heartbeat: true.';

export const nothingCounted = (filter: string, number: number) =>
  `${processes(number)} reported on filter '${filter}', and no guard has counted a lookup. See that guarded methods are called, and that the mode is not off.`;

export const falseNegatives = (number: number) =>
  `${plural(number, 'lookup')} found a row whose id the filter reported absent. Do not turn guards on before you know why: see the troubleshooting page.`;
