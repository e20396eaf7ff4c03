import {
  catchError,
  concat,
  concatMap,
  defer,
  finalize,
  ignoreElements,
  isObservable,
  type Observable,
  of,
  throwError,
} from 'rxjs';
import { BloomConfigError, BloomIdError, BloomUnavailableError } from '../common/index.js';
import type { BloomGuardRunner } from './bloom-guard-runner.js';
import { type CallContext, contextReader, FOR_CLIENTS, methodName } from './call-context.js';
import {
  type AnyInstance,
  type BloomFilterName,
  expectScope,
  type FilterUse,
  namedFilter,
} from './filter-name.js';
import { badRequestError, unavailableError } from './guard-answers.js';
import { answerOfValidate, notRegistered } from './guard.messages.js';
import { type BloomRegistersOptions, checkRegistersOptions } from './guard-options.js';
import { type IdsReader, idsReader } from './guarded-call.js';
import type { Registration } from './id-registrar.js';
import type { OnlyOptions, OtherSelf, RegistersVerdict } from './method-verdict.js';
import { assertNeedsNoRecord, proceed, type WrappedCall, wrappedCall, wrapMethod } from './method-wrapper.js';

/** As `BloomGuardedDecorator`, for methods that create what the ids name. */
export interface BloomRegistersDecorator<Options = {}, Self = AnyInstance> {
  <Target extends Self & object, Method>(
    target: Target,
    key: string | symbol,
    descriptor: TypedPropertyDescriptor<Method>,
  ): RegistersVerdict<Target, Method, Options>;
  <Method>(
    target: object,
    key: string | symbol,
    descriptor: TypedPropertyDescriptor<Method>,
  ): OtherSelf<Self>;
}

/** Ids of one call: as many as a generous request creates, and few to record. */
const MAX_IDS = 1000;

/**
 * Records the id of what the method creates, so that guards let it pass. By default the id is in the
 * arguments and is added before the method runs: there is no moment when the row exists and is answered
 * "absent". For an id that the database makes, see `from: 'result'` and its window.
 *
 * A method that takes longer than half of `drainMs`, or during which the filter was rebuilt, has its id added
 * once more before its caller gets the result: its row may have become visible after the rebuild had read the
 * table. The row has to be visible when the method ends. So put the decorator on the method that commits, not
 * on one that runs inside the transaction of its caller.
 *
 * What the method refuses has been added all the same, and stays until the next rebuild. `validate` refuses a
 * call before its id is added.
 *
 * An id that cannot be recorded rejects the call, unless `onError: 'queue'`: with a 503 where a client waits.
 * A value that cannot be an id rejects it with a `BloomIdError`; where a client waits and the id is in its
 * arguments, with a 400. An object that Nest did not construct records nothing: its class is warned of once,
 * and in a process that runs an application with filters the call rejects, since what it creates would be
 * answered "absent" there.
 *
 * @example
 * ```ts
 * @BloomRegisters('products', { id: 'sku' })
 * async create(product: NewProduct): Promise<Product> { … }
 * ```
 */
export function BloomRegisters<Self = AnyInstance>(
  filter: BloomFilterName<Self>,
): BloomRegistersDecorator<{}, Self>;
export function BloomRegisters<const Options extends BloomRegistersOptions, Self = AnyInstance>(
  filter: BloomFilterName<Self>,
  options: Options & OnlyOptions<Options, BloomRegistersOptions>,
): BloomRegistersDecorator<Options, Self>;
export function BloomRegisters(name: BloomFilterName, options: BloomRegistersOptions = {}): MethodDecorator {
  return (target, key, descriptor: PropertyDescriptor) => {
    const site = { target, key, descriptor };
    const method = methodName(site);
    const filter = namedFilter(name, 'BloomRegisters', method);
    checkRegistersOptions(options, `@BloomRegisters(${filter.text}) on ${method}`);
    const { from, scope, maxIds = MAX_IDS } = options;
    const isScoped = scope !== undefined;
    const use = { decorator: 'BloomRegisters', filter, method, key, isScoped } as const;
    const declaration: RegisterDeclaration = {
      use,
      options,
      isBefore: from !== 'result',
      readIds: idsReader(options, from === 'result' ? Infinity : maxIds),
      readWritten: idsReader(options, Infinity),
      context: contextReader(site),
    };
    wrapMethod(
      site,
      use,
      (original) =>
        function (...args) {
          return callRegistering(declaration, wrappedCall(original, this, args));
        },
    );
  };
}

interface RegisterDeclaration {
  readonly use: FilterUse;
  readonly options: BloomRegistersOptions;
  /** Whether ids are recorded before the method runs. */
  readonly isBefore: boolean;
  readonly readIds: IdsReader;
  /** Reads the ids of rows that exist: not one of them may be left out. */
  readonly readWritten: IdsReader;
  context(): CallContext;
}

async function callRegistering(declaration: RegisterDeclaration, call: WrappedCall): Promise<unknown> {
  const { use, options, isBefore, readIds } = declaration;
  const { filter: named, method } = use;
  const { self, args, runner } = call;
  const { validate, onError } = options;
  if (validate) {
    const answer: unknown = await validate.apply(self, [...args]);
    // An answer may mean that the call is to be refused.
    if (answer !== undefined) throw new BloomConfigError(answerOfValidate(method, answer));
  }
  if (!runner) {
    assertNeedsNoRecord({ filter: named.name ?? named.text, method }, call);
    return proceed(call);
  }
  const { registrar } = runner;
  const filter = named.name ?? named.nameOf(self!);
  expectScope(use, runner.service.find(filter));
  const result = isBefore ? undefined : await proceed(call);
  let registration: Registration | undefined;
  try {
    if (isBefore) registration = await registrar.register({ filter, ids: readIds(self, args), onError });
    else await registrar.registerMade({ filter, ids: readIds(self, [result, ...args]), onError });
  } catch (error) {
    throw await refusal(declaration, runner, { filter, error });
  }
  return registration ? callAdded(call, addSettler(declaration, call, runner, registration)) : result;
}

/** Calls a method whose ids have been added. */
async function callAdded(call: WrappedCall, settleAdd: SettleAdd): Promise<unknown> {
  let result: unknown;
  try {
    result = await proceed(call);
  } catch (error) {
    await settleAdd('failed');
    throw error;
  }
  if (isObservable(result)) return settledStream(result, settleAdd);
  await settleAdd('written', result);
  return result;
}

/**
 * Called when a method has ended whose ids were added before it ran; `left`: its caller stopped reading a
 * stream. Adds the ids that the call turned out to have, and all of them again where a rebuild may have
 * missed one. Rejects only for a call that has written.
 */
type SettleAdd = (ending: 'written' | 'failed' | 'left', result?: unknown) => Promise<void>;

function addSettler(
  { use, options, readWritten }: RegisterDeclaration,
  { self, args }: WrappedCall,
  { registrar, lessons }: BloomGuardRunner,
  registration: Registration,
): SettleAdd {
  const { method } = use;
  const { filter } = registration;
  let last = registration;
  return async (ending, result) => {
    if (ending === 'failed') registrar.recordFailed(registration, method);
    // The method may have changed its arguments.
    const made = idIn(result, options.id);
    const ids = lessons.callback({ filter, method }, 'id', () => readWritten(self, args, made)) ?? [made];
    if (ending !== 'written') return registrar.registerFailed(last, ids, method);
    last = await registrar.registerWritten(last, ids, method);
    last = await registrar.registerAgain(last);
  };
}

/** What a row has in the property that is the id of the argument; undefined where that is no id. */
function idIn(result: unknown, id: BloomRegistersOptions['id']): unknown {
  if (typeof id !== 'string' || typeof result !== 'object' || result === null) return undefined;
  const value = (result as Record<string, unknown>)[id];
  const isId = ['string', 'number', 'bigint'].includes(typeof value) || value instanceof Uint8Array;
  return isId ? value : undefined;
}

/**
 * A method whose stream does the work, when somebody subscribes to it, ends with the stream. Its first value
 * may be all that its caller waits for (`firstValueFrom`), so the add is settled before that too. When the
 * caller stops early it is settled as well, and nothing waits for that.
 */
function settledStream(stream: Observable<unknown>, settleAdd: SettleAdd): Observable<unknown> {
  return defer(() => {
    let hasEnded = false;
    const settled = (...ending: Parameters<SettleAdd>) =>
      defer(() => {
        hasEnded ||= ending.length === 1;
        return settleAdd(...ending);
      }).pipe(ignoreElements());
    const values = stream.pipe(
      concatMap((value, i) => (i === 0 ? concat(settled('written', value), of(value)) : of(value))),
      catchError((error: unknown) =>
        concat(
          settled('failed'),
          throwError(() => error),
        ),
      ),
    );
    return concat(values, settled('written')).pipe(
      finalize(() => {
        if (!hasEnded) void settleAdd('left');
      }),
    );
  });
}

/**
 * The error of a call whose ids were not recorded: to a client of Nest, that its value cannot be used, or
 * that it may try again later.
 */
async function refusal(
  { context, use, isBefore }: RegisterDeclaration,
  { registrar }: BloomGuardRunner,
  { filter, error }: { readonly filter: string; readonly error: unknown },
): Promise<unknown> {
  const isClients = FOR_CLIENTS.has(context());
  if (error instanceof BloomIdError) {
    const text = notRegistered(use.filter.text, use.method, error.message);
    const named = new BloomIdError(text, { cause: error });
    // A client has not chosen what the method returned.
    if (!isClients || !isBefore) return named;
    registrar.reportRefused(filter, use.method, error);
    return badRequestError(context(), named);
  }
  return error instanceof BloomUnavailableError && isClients ? unavailableError(context(), error) : error;
}
