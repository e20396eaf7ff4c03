import { count, describeError, plural, printed, printedId } from '../common/index.js';
import { type IdKey, scopeOfUnscoped } from '../filter/index.js';

/** A decorator on a method, as `FilterUse` has it. */
interface Use {
  readonly decorator: string;
  readonly filter: { readonly text: string };
  readonly method: string;
}

export const answerOfValidate = (method: string, got: unknown) =>
  `@BloomRegisters on ${method}: expected validate to throw for a call that it refuses, and to return nothing for any other, got ${printed(got)}.`;

export const notRegistered = (filter: string, method: string, reason: string) =>
  `@BloomRegisters(${filter}) on ${method}: ${reason}`;

export const writtenUnrecorded = (by: string, id?: IdKey) =>
  `BLOOM_OTHER_ID_WRITTEN: ${by} wrote a row whose id${id === undefined ? '' : `, ${printedId(id)},`} is another one than was recorded before. It is recorded now. Until then its lookups may have ` +
  'been answered "absent". Give the id its last form before the write (no change in the method, a hook, an extension or the database). If both are spellings of ' +
  'one id, set normalize of the filter.';

export const validateAfterwards = (where: string) =>
  `${where}: expected no option validate with from: 'result', where the method has run before its id is added. Validate in the method.`;

export const promiseFromOption = (option: string) =>
  `Expected ${option} to return its answer at once, got a promise.`;

const MAX_THROWN = 200;

/** @param what was thrown: as `thrown` prints it, or its name. */
export const idFunctionThrew = (
  { method, filter }: { readonly method: string; readonly filter: string },
  thrownBy: string,
  what: string,
) =>
  `BLOOM_ID_FUNCTION_THREW: ${method} ran without the filter: ${thrownBy} threw ${what}, so the lookup was not checked. A client may send such a value on purpose ` +
  `(?id=1&id=2). ${thrownBy === NORMALIZE ? NORMALIZE_REMEDY : ID_REMEDY} Where it never throws for the id of a row, ` +
  `@BloomGuarded('${filter}', { onThrow: 'invalid' }) does the same.`;

/** For people, as `thrownBy` of an advice. */
export const NORMALIZE = 'normalize of its filter';

const NORMALIZE_REMEDY =
  'Let the function return a text unchanged if it cannot normalize it, or throw a BloomIdError.';
const ID_REMEDY =
  "Let the function return undefined for a value that is not an id, as ({ id }) => (typeof id === 'string' ? id.trim() : undefined) does, or throw a BloomIdError.";

/** What a client has sent may stand in it. */
export function thrown(error: unknown): string {
  const text = describeError(error);
  const short = text.length > MAX_THROWN ? `${text.slice(0, MAX_THROWN)}…` : text;
  return error instanceof Error ? `${error.name}: ${short}` : short;
}

export const wrongIsFound = (got: string) => `Expected isFound to return true or false, got ${got}.`;

export const wrongCoalesceKey = (got: string) =>
  `Expected coalesce.key to return a string or undefined, got ${got}.`;

export const noRouteParameter = (name: string) =>
  `The route has no parameter '${name}'. Name the one that holds the id or scope: @BloomGuarded(name, { param: '…' }).`;

export const otherAnswer = (method: string, filter: string, thrown: string | undefined) =>
  `BLOOM_OTHER_ANSWER: ${method} ${thrown === undefined ? 'returns a list' : `throws ${thrown} when it finds nothing`}, and its guard answers null for an absent id. Say ` +
  `what its callers expect: @BloomGuarded('${filter}', { onAbsent: '${thrown === undefined ? 'empty' : 'not-found'}' }), 'null', or a function that ` +
  'answers or throws.';

export const unreadByInterceptor = (method: string, filter: string, option: string) =>
  `@BloomGuarded('${filter}', { ${option} }) on ${method}: BloomInterceptor ` +
  (option === 'scope'
    ? "has no arguments for a function. Write { param: 'id', scope: 'tenant' }, or a function of the request beside param."
    : `reads the option ${option}, and does not check this method. Put @UseInterceptors(BloomInterceptor) on the route or its controller, or ` +
      (option === 'early'
        ? 'remove early.'
        : 'say by the option id where the arguments of the method have the id.'));

export const cannotBeEarly = (
  { method, filter }: { readonly method: string; readonly filter: string },
  has: string,
) =>
  `@BloomGuarded('${filter}', { early: true }) on ${method}: expected a route that its path alone chooses, with the id as its parameter, and a 404 by default, got ${has}. Remove early.`;

export const earlyByFunction = (where: string) =>
  `${where}: expected with early names of route parameters, and no onAbsent but 'not-found', since nothing of Nest has run then. Remove early.`;

export const paramWithoutName = (where: string, option: string) =>
  `${where}: expected no option ${option} beside a function that names the filter, since BloomInterceptor leaves such a method alone. Say by the option id where ` +
  'the arguments of the method have the id, or name the filter by a text.';

export const answerAbsentUnused = (method: string, interceptor: string) =>
  `BLOOM_ANSWER_UNUSED: ${method} checks for itself, so answerAbsent of ${interceptor} is not asked. Put @UseInterceptors(${interceptor}) on its route or controller, or override ` +
  'idOf as well: messages need that.';

export const NO_ID_OF =
  'BloomInterceptor does not know where a message has its id. Override idOf(context) for messages too.';

export const skipAndGuard = ({ decorator, filter }: Use, method: string) =>
  `@SkipBloom() and @${decorator}(${filter.text}) on ${method} contradict each other. Remove one of them.`;

export const skipsNothing = (where: string) =>
  `BLOOM_SKIPS_NOTHING: @SkipBloom() on ${where} skips nothing: it inherits no guard, and no BloomInterceptor of this application has filterOf. Remove it.`;

export const arrayForOneId = (property: string | undefined, length: number) =>
  `Expected one id${property === undefined ? '' : ` in '${property}'`}, got an array of ${length}. Where a call creates several rows, give ` +
  'the option id a function that returns their ids.';

export const noListOfIds = (got: string) =>
  `Expected a list of ids as the first argument, got ${got}. Call the method with an array.`;

export const tooManyIds = (maxIds: number, got: number) =>
  `Expected at most ${plural(maxIds, 'id')} of one call, got ${count(got)}. Create the rows in smaller parts, or raise the option maxIds.`;

export const notOnMethod = ({ decorator, filter, method }: Use) =>
  `Expected @${decorator}(${filter.text}) on an instance method, got ${method}, which is not one. Put it on a method of an object that Nest ` +
  'constructs.';

export const onGenerator = ({ decorator, filter, method }: Use) =>
  `Expected @${decorator}(${filter.text}) on a method that returns a promise, got ${method}, which is a generator. Put it on a method that ` +
  'looks the id up, or ask the filter in the generator (@InjectBloomFilter).';

export const filterNotRegistered = ({ decorator, filter, method }: Use) =>
  `@${decorator}(${filter.text}) on ${method} names a filter that is not registered.`;

export const otherScope = (
  { decorator, filter, method, isScoped }: Use & { readonly isScoped: boolean },
  name: string,
) => {
  const where = `@${decorator}(${filter.text}) on ${method}`;
  return isScoped
    ? scopeOfUnscoped(name, where)
    : `${where}: expected the option scope, since filter '${name}' has scoped: true. Write { scope: (…args) => tenant }.`;
};

export const hookWithoutScope = (filter: string) =>
  `A hook of a library names the filter '${filter}', whose ids have scopes. Use @BloomRegisters, or filter.add(scopedId(scope, id)).`;

export const scopeThrew = (error: unknown) => `The option scope threw ${thrown(error)}.`;

export const hookNotRegistered = (filter: string) =>
  `A hook that records the rows of a library (extendWithBloom, for example) names the filter '${filter}', which is not registered.`;

export const namedNotRegistered = ({ decorator, filter, method }: Use, name: string, owner: string) =>
  `@${decorator}(${filter.text}) on ${method} names the filter '${name}' for ${owner}, which is not registered.`;

export const noFilterName = (where: string, got: unknown, owner?: string) =>
  `${where}: expected the name of a filter${owner === undefined ? '' : ` for ${owner}`}, got ${got instanceof Error ? `the error ${thrown(got)}` : printed(got)}. ` +
  'Give a text, or a function that returns one: (self) => self.filterName.';

export const standInForRunner = (method: string, owner: string) =>
  `BLOOM_NOT_GUARDED: ${method} runs unguarded: something else was injected into ${owner} in place of BloomGuardRunner, so its lookups pass and what it ` +
  'creates is not recorded. In a test that mocks missing providers this is expected; otherwise import BloomModule.forRoot() in the root ' +
  'module.';

export const notConstructedByNest = (method: string, owner: string, filter: string) =>
  `BLOOM_NOT_GUARDED: ${method} runs unguarded: this ${owner} was not constructed by Nest, so its lookups pass and what it creates is not recorded. Provide ` +
  `the class itself instead of a factory or a value, or ask the filter '${filter}' in the method (@InjectBloomFilter, mightContain, add).`;

export const cannotRegister = (method: string, filter: string) =>
  `${method} cannot record ids in filter '${filter}': its object was not constructed by Nest, and an application of this process would ` +
  'answer "absent" for what it creates. Provide the class itself instead of a factory or a value, or remove the decorator and call ' +
  'filter.add(id) in the method.';

export const queueFull = (filter: string, ids: number, bytes: number) =>
  `The queue of ids that filter '${filter}' could not record is full: it holds at most ${plural(ids, 'id')} and ${plural(bytes, 'byte')}. Bring the store back; ` +
  'until then calls that create rows are refused.';

export const lostAtShutdown = (ids: number, filter: string) =>
  `BLOOM_IDS_LOST: The shutdown came before ${plural(ids, 'id')} could be recorded in filter '${filter}'. Rebuild the filter, or lookups of them are answered "absent".`;
