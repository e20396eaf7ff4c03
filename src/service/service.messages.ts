import { nearestName, plural, printed, printedId } from '../common/index.js';
import type { BloomId } from '../filter/index.js';

export const SHUTTING_DOWN = 'The application is shutting down.';
export const CREATED_MEANWHILE = 'The filter has been created meanwhile.';

export const unknownFilter = (name: string, names: readonly string[]) => {
  const near = nearestName(name, names);
  return `No filter is named '${name}'. ${near === undefined ? '' : `Did you mean '${near}'? `}${registeredFilters(names)}`;
};

export const twoFilters = (name: string) =>
  `Two filters are named '${name}'. Register each filter once, and inject it where it is needed.`;

export const registeredFilters = (names: readonly string[]) =>
  (names.length > 0
    ? `Registered filters: ${names.map((name) => `'${name}'`).join(', ')}. `
    : 'No filter is registered. ') +
  'Register it with BloomModule.forFeature([{ name, capacity, … }]) or forRoot({ filters }), or correct the name.';

export const filterCannotBe = (where: string, reason: string) => `${where}: ${reason}`;

export const cannotShareDenials = (filter: string, layout: string) =>
  `Filter '${filter}': expected negativeCache.shared with the layout blocked, got ${layout}. Remove it: an add of another program would not end what is remembered.`;

export const cannotRemove = (filter: string, layout: string) =>
  `Filter '${filter}' cannot remove ids: expected integers as ids and no option layout, or the layout cuckoo, got ${layout}. Register it so, or leave the id in: it ` +
  'costs a lookup until the next rebuild.';

export const noSource = (filter: string) =>
  `Filter '${filter}' has no source to rebuild it from. Register it with a source, or empty it with reset().`;

export const notAdoptable = (filter: string, layout: string) =>
  `Filter '${filter}' has the layout ${layout}, which no other system writes, so there is no filter to adopt. Empty it with reset(), or ` +
  'rebuild it.';

export const adoptWithSource = (filter: string) =>
  `Filter '${filter}' has a source, from which a rebuild reads all ids. Call rebuild() instead of adopt().`;

export const resetOfPeersKey = (filter: string) =>
  `Filter '${filter}' is on a key of other systems: emptied, it would answer "absent" for their ids. Have its owner fill the key, then ` +
  'call adopt().';

export const resetWithSource = (filter: string) =>
  `Filter '${filter}' has a source: emptied, it would answer "absent" for ids that exist. Call rebuild() instead.`;

export const notEmptied = (filter: string, reason: string) =>
  `Filter '${filter}' was not emptied: ${reason} Call reset() again.`;

export const notCreated = (filter: string) =>
  `Filter '${filter}' could not be created: another process holds its lease. The next add tries again.`;

export const notMade = (filter: string, cause: string) =>
  `Filter '${filter}' is not there, and could not be made, so nothing was added. ${cause}`;

export const notReadyInTime = (timeoutMs: number, states: readonly string[]) =>
  `Expected all filters to be ready within ${timeoutMs} ms. Not ready: ${states.join(', ')}.`;

export const rowsOutOfPlace = (method: string, ids: number, rows: number) =>
  `Expected ${method} to return a row or null for each id of a call, in their order, got ${plural(rows, 'row')} for ${plural(ids, 'id')}. If rows may be missing or come in another order, say which id a ` +
  'row has: { key: (row) => row.id }.';

export const rowOfNoId = (method: string) =>
  `${method} returned a row whose key is not among the ids of the call. Let the option key return the id of the row, spelled as it is looked up, or ` +
  'set normalize of the filter.';

export const foundButAbsent = (method: string) =>
  `${method} found something for an id that was answered "absent".`;

export const adviseOnWrongAbsents = ({
  id,
  method,
  returned,
  hasSource,
  hasFoundNothing,
  isGuardOff,
}: {
  readonly id?: BloomId | undefined;
  readonly method: string;
  /** The type of it. */
  readonly returned: string;
  readonly hasSource: boolean;
  readonly hasFoundNothing: boolean;
  readonly isGuardOff: boolean;
}) =>
  `BLOOM_WRONG_ABSENT: ${method} returned a value (${returned}) for ids that the filter answers "absent"${id === undefined ? '' : `, such as ${printedId(id)}`}` +
  `${hasFoundNothing ? '' : ', and has never returned null, undefined, false or an empty list'}. ` +
  (isGuardOff ? 'Its guard lets every call through from now on, until this process starts again. ' : '') +
  'If rows have these ids, look at (1) what the guard reads: name the argument that is the id by the option id, or param behind BloomInterceptor; ' +
  `(2) ${hasSource ? 'the source: its table, column and where' : 'the filter: without a source it knows only the ids that were added'}; ` +
  '(3) rows that are written without an add; (4) an instance with another normalize, redis or keyPrefix. If the method returns a default for ids ' +
  'that do not exist, declare it: @BloomGuarded(name, { isFound: (result) => … }).';

export const OVERFULL_REBUILT =
  'It is rebuilt from its source: at once if count() of the source is above the capacity, else after a pause.';

export const OVERFULL_FIXED =
  'Its size is that of the key, and a rebuild does not change it: have all systems that use the key make a larger one.';

export const OVERFULL_WITHOUT_SOURCE =
  'It has no source, so no rebuild makes it larger: register one with a larger capacity under another name, raise maxCapacity of scaling(), or give it ' +
  'a source. reset() empties it.';

export const normalizeVaries = (filter: string) =>
  `Filter '${filter}': expected normalize to make the same key of an id each time, got different keys for the same id. Base the key on the id alone: ` +
  'no time, no counter, no random value, no setting that changes.';

export const SPELLING_NOT_KNOWN_YET =
  'The source of the filter chooses how ids are spelled, and it is not made before every module is. Use the filter in onModuleInit or ' +
  'later, or set the option normalize of the filter.';

export const notALayout = (filter: string, got: unknown) =>
  `Filter '${filter}': expected layout to be 'blocked' or what a function of @nestjs-bloom/interop returns, got ${printed(got)}. ` +
  (typeof got === 'function'
    ? `Call the function: layout: ${got.name}({ … }).`
    : 'Call the function of another system, such as layout: redisson({ … }); for a filter of its own leave it out.');

export const stoppedBy = (by: string) => `It was stopped by ${by}.`;

export const BAD_ID_LEFT_OUT =
  'The source returned a value that cannot be an id. The log of the process that rebuilt names it.';

export const wrongMode = (got: string) =>
  `setMode(): expected the mode to be 'on', 'shadow', 'off', or null, which withdraws it, got ${got}.`;

export const wrongBy = (method: string, length: number, got: string) =>
  `${method}(): expected { by } to name the operator or program that asks, in 1 to ${length} characters, got ${got}.`;

export const clientIsNoText = (got: unknown) =>
  `The option attack.client: expected a text or undefined, got ${printed(got)}.`;

export const clientsWithoutRequest = (method: string) =>
  `BLOOM_CLIENTS_WITHOUT_REQUEST: the option attack.client is set, and an absent id of ${method} belongs to no client, since BloomInterceptor has seen no request. Bind it globally: ` +
  'providers: [{ provide: APP_INTERCEPTOR, useClass: BloomInterceptor }].';

export const notAMark = (got: unknown) =>
  `Expected idsSince of the source to give { ids, mark } with a mark that is a text, a safe integer, a bigint or a Date, got ${printed(got)}.`;

export const orderedByMarks = () =>
  "Expected idsSince of the source to give plain ids, since its idOrder says that they are in that order, got { ids, mark }. Leave the marks out, or set coverage: 'none'.";

export const notOfOrder = (id: BloomId, since: unknown) =>
  `Expected idsSince of the source to give ${since === undefined ? 'ids of the order that its idOrder names' : `ids of the same kind as the mark, ${printed(since)}`}, got ${printed(id)}. ` +
  "Give { ids, mark } where the order is not that of the ids, or have idOrder say 'text' where some ids are not integers.";

export const notAscending = (before: string, id: BloomId, order: string) =>
  `Expected idsSince of the source to give ids in ascending order, compared as ${order === 'integer' ? 'integers' : 'texts by their code points'}, got ${printed(id)} after ` +
  `${printed(before)}. Sort the query by the id (texts by code points, such as collate "C"), correct idOrder, or give { ids, mark }.`;

export const markNotRead = (mark: string) =>
  `Expected the stored mark to be one that this version can read and of the order that idOrder of the source names, got ${printed(mark)}.`;

export const markWentBack = (mark: string, newest: string | undefined) =>
  newest === undefined
    ? `The source has no row any more, and the mark is ${printed(mark)}.`
    : `The newest row of the source is ${printed(newest)}, which comes before the mark, ${printed(mark)}: rows were deleted, or ids are given out a second time.`;

export const rowsMissing = (found: {
  readonly mark: string;
  readonly missing: readonly string[];
  readonly asked: number;
}) =>
  `Of ${plural(found.asked, 'row')} up to the mark, ${printed(found.mark)}, the filter lacked ${found.missing.length}, ${printed(found.missing[0])} among them: they became visible after the mark had passed them. ` +
  'Look for rows far ahead of the others in the order, such as one with a sentinel for its id. Look also for ids below the last ones that were given out later, and for transactions longer than overlapMs. ' +
  "Remove or renumber such rows, or set coverage: 'none', then call rebuild(): no id counts as absent until a later rebuild finds all rows up to its mark.";

export const WITH_IDS_SINCE =
  'one that has idsSince(mark), since topUp is given. Sources of tables have it where ids are made in order, and with their option order. ' +
  'Several that are read together have it with the option newRows of inParallel, a source of whose order all their rows are: their own marks are not those of one order';

export const ORDER_NOT_SAID = 'its source does not say in which order ids are made (idOrder)';

export const SCOPED = 'its ids have scopes (scoped: true)';

export const NO_IDS_SINCE = 'its source has no idsSince(mark)';

export const NORMALIZE_REORDERS = 'its normalize changes the order of ids';

export const notCovered = (reason: string) =>
  `left out, since ${reason}. Ids are covered where the source says that they are made in ascending order: by itself, by its option ids, or by idOrder`;
export const addedOutOfOrder = (
  filter: string,
  id: BloomId,
  { upTo, last }: { readonly upTo: { readonly upTo: string } | undefined; readonly last: string | undefined },
) =>
  `Filter '${filter}': expected an id that comes after ${printed(upTo?.upTo)}${last === undefined ? '' : `, up to ${last},`} or that is in the filter, got ${printedId(id)}. ` +
  'Other processes may have read past that id, answer by what they have in memory, and see no add of this one: they would answer "absent". ' +
  "Write its row without add(). Then call rebuild({ join: false }): in each process without Redis, once with replica: 'covered'. " +
  "Where such rows are usual, share the filter through Redis, with replica: 'verified'. Where this is the only process, and adds each id, set coverage: 'none'.";

export const inOrderAlone = (reason: string) =>
  `'verified', since ${reason}: a copy is 'covered' up to a mark, where all rows come in the order of their ids`;
export const FEED_ANY_ORDER = 'a feed adds rows in any order';
export const NOT_ASKED_FOR = "coverage is 'none'";

export const heldTooLong = (filter: string, overlapMs: number, stallMs: number) =>
  `Filter '${filter}': expected rebuild.stallMs above ${overlapMs}, got ${stallMs}: without Redis, or with replica: 'covered', a build waits that long for its mark, which is topUp.overlapMs, or rebuild.drainMs and half of topUp.overlapMs if that is more.`;

export const newestNotKnown = (filter: string) =>
  `Filter '${filter}': nothing was added, since it is not known yet which ids other processes may have read past. Try again when the source has been read: topUp.everyMs, and the first build. ` +
  'The event top-up-failed says why it is not.';

export const NOT_HOLDER = 'Another process follows the feed by now.';
