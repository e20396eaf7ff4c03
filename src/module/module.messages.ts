import type { BloomIdSpelling } from '../rebuild/index.js';
import { count, describeError, EVENT_TYPES, nearestName, printed } from '../common/index.js';
import { registeredFilters } from '../service/index.js';

export const SHUTTING_DOWN = 'The application is shutting down.';

export const NO_OPTIONS_FACTORY =
  'Expected BloomModule.forRootAsync() to be given useFactory, useClass or useExisting, got none of them.';

export const noFilter = (method: string, got: unknown) =>
  `BloomModule.${method}(): expected a filter such as { name: 'products', capacity: 1_000_000 }, got ${printed(got)}. ` +
  (got === undefined
    ? 'If it is imported, two files may import each other.'
    : 'Give an object for each filter.');

export const notTheFilter = (name: string, got: unknown) =>
  `Filter '${name}': expected its useFactory to return the options of a filter without a name, or with this one, got ${printed(got)}.`;

export const twoRoots = (importers: readonly string[]) =>
  'BloomModule.forRoot() is imported more than once' +
  `${importers.length > 1 ? `, by ${importers.join(', ')}` : ''}. Import it once, in the root module, and BloomModule.forFeature() everywhere ` +
  'else. A test that imports the module of the application takes BloomTestingModule.override() instead of a second root.';

export const noRoot = (filter: string) =>
  `BloomModule.forFeature() registers filter '${filter}', and BloomModule.forRoot() is not imported. Import it in the root module; in a ` +
  'test, import BloomTestingModule.passAll() or of().';

export const noFilterOfThisName = (name: string, host: string, names: readonly string[]) => {
  const near = nearestName(name, names);
  return (
    `${host} asks for the filter '${name}' (token BloomFilter:${name}), and no filter has that name. ` +
    `${near === undefined ? '' : `Did you mean '${near}'? `}${registeredFilters(names)}`
  );
};

export const unnamedFilter = (host: string, names: readonly string[]) =>
  `${host} asks for a BloomFilter, and does not say which: @InjectBloomFilter('${names[0] ?? 'products'}') products: BloomFilter. ` +
  registeredFilters(names);

export const twoFilters = (name: string) => `Two filters are named '${name}'. Register each filter once.`;

export const sourceNotProvided = (filter: string, source: string) =>
  `Filter '${filter}' names ${source} as its source, which is not a provider of any module. Add it to the providers of the module that ` +
  'reads the table, or give an object.';

export const sourceNeedsProvider = (filter: string, token: string) =>
  `Filter '${filter}' has a source that needs ${token}, which is not a provider of any module, or is request-scoped. Add it to the ` +
  'providers of a module, or name the token of the provider that you mean.';

export const besideStore = (where: string, option: string) =>
  `${where}: expected no option ${option} beside store. It is for Redis: give it to your store, or leave store out.`;

export const leftOutServerless = (does: string) =>
  `left out with runtime: 'serverless', where a process stands still between calls and ${does}`;

export const wrongCron = (
  filter: string,
  { cron, timeZone }: { readonly cron: string; readonly timeZone: string | undefined },
  cause: string,
) =>
  `Filter '${filter}': expected rebuild.cron to be a cron expression such as '0 4 * * *'` +
  (timeZone === undefined
    ? `, got '${cron}'. `
    : ` and rebuild.timeZone an IANA time zone, got '${cron}' and '${timeZone}'. `) +
  cause;

export const cronPackageMissing = (filter: string, name: string) =>
  `Filter '${filter}' has rebuild.cron, which needs the packages '@nestjs/schedule' and 'cron'; '${name}' is missing. Run: npm install ` +
  '@nestjs/schedule cron. Or set rebuild.everyMs, which needs neither.';

export const noScheduleModule = (filter: string) =>
  `Filter '${filter}' has rebuild.cron, but ScheduleModule is not imported. Add ScheduleModule.forRoot() of @nestjs/schedule to the ` +
  'imports of the application module.';

export const NO_DRAIN =
  'BLOOM_DRAIN_TOO_SHORT: rebuild.drainMs is 0: an id that is added just before a rebuild, and whose row is committed after the rebuild has read the table, is ' +
  'answered "absent". Set drainMs to the longest time from an add to its visible row.';

export const rebuiltAllTheTime = (everyMs: number, drainMs: number) =>
  `BLOOM_REBUILT_TOO_OFTEN: rebuild.everyMs is ${count(everyMs)}, and a rebuild waits drainMs, ${count(drainMs)}, before it reads the whole source: the filter is rebuilt all ` +
  'the time. Give everyMs at least a few minutes (it is in milliseconds). For new rows within a second set topUp.';

export const toppedUpAllTheTime = (everyMs: number) =>
  `BLOOM_POLLED_TOO_OFTEN: topUp.everyMs is ${count(everyMs)}: the source is asked for new rows ${count(Math.floor(1000 / everyMs))} times a second. Give everyMs at least 100 ` +
  '(it is in milliseconds; the default is 1,000).';

export const newRowsAbsent = (reason: string) =>
  `BLOOM_NEW_ROWS_ABSENT: new rows are answered "absent" until their ids are added, since ${reason}. Put @BloomRegisters on the methods that create them, use a write hook of ` +
  "the library, or give the filter a feed or topUp; coverage: 'none' says that this is taken care of. See docs/outside-writers.md.";

export const NO_OWNER =
  'BLOOM_NO_OWNER: No package.json with a name was found, so this application claims no filter in Redis: another application with a filter of this name ' +
  'would replace it by its own rows. Set owner in BloomModule, the same in all instances, or false to accept this.';

export const noEventType = (got: unknown) => {
  const near = nearestName(String(got), EVENT_TYPES);
  return (
    `@OnBloomEvent(): expected the type of an event, got ${printed(got)}. ` +
    (near === undefined ? `Types are ${EVENT_TYPES.join(', ')}.` : `Did you mean '${near}'?`)
  );
};

export const onEventOfNoMethod = (target: object, key: string | symbol) =>
  `Expected @OnBloomEvent() on an instance method, got ${(typeof target === 'function' ? target : target.constructor).name}.${String(key)}. ` +
  'Put it on a method of a provider or controller.';

export const handlerOfNoSingleton = (method: string) =>
  `@OnBloomEvent() on ${method}: expected a provider of which the application has one, got one that is request-scoped or transient. An event ` +
  'belongs to no request: put the handler on a provider without a scope.';

export const listenerFailed = (type: string, error: unknown) =>
  `BLOOM_LISTENER_FAILED: A listener failed on the event '${type}': ${describeError(error)}`;

export const noSuchSourceOption = (where: string, name: string, near: string) =>
  `${where}: expected no option 'source.${name}'. Did you mean 'source.${near}'?`;

export const notASource = (filter: string, source: unknown) =>
  `Filter '${filter}': expected its source to be an object with a method ids(), a class of a provider or { useFactory }, got ${printed(source)}.` +
  (typeof source === 'function' ? ' Write source: { ids: async function* () { yield ids; } }.' : '');

export const notMadeYet = (filter: string) =>
  `BLOOM_NOT_CREATED: Filter '${filter}' has no source and was never created: lookups go through, and adds are rejected. If its ids are in a database, give it a source. ` +
  "If it is to know only what is added, call reset() once, or set create: 'first-start': the first process then creates it, empty.";

export const spellingIsNoGetter = (filter: string, source: string) =>
  `Filter '${filter}': the source ${source} sets the property spelling when it is made, and ids may have been ` +
  'looked up before. Declare it as a getter: get spelling() { … }.';

export const spellingsNotKnown = (column: string) =>
  `BLOOM_SPELLINGS: ${column}, and a database may take several spellings for one such value: an id that is looked up by another one than its row has ` +
  'is answered "absent". Set the option normalize to a function that gives all of them one text, or to (id) => id if ids are ' +
  'always spelled as the database writes them.';

export const equalBeyond = ({ column, name = 'normalize', alsoEqual }: BloomIdSpelling) =>
  alsoEqual === undefined
    ? undefined
    : `BLOOM_SPELLINGS: ${column}, which takes ${alsoEqual} for equal and ${name} does not: an id that is looked up by such a spelling, which its row does not have, is answered ` +
      '"absent". Set the option normalize to a function that gives all of them one text, to (id) => id if ids are always spelled as the database writes ' +
      'them. Or choose another collation, such as utf8mb4_unicode_ci.';
