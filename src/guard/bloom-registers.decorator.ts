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
import { type CallContext, contextReader, isForClient } from './call-context.js';
import { badRequestError, unavailableError } from './context-errors.js';
import type { BloomGuardRunner } from './bloom-guard-runner.js';
import { checkRegistersOptions } from './guard-options-check.js';
import { answerOfValidate, notRegistered, wrongMaxIds } from './guard.messages.js';
import { type AnyInstance, type BloomFilterName, namedFilter } from './filter-name.js';
import type { NamedFilter } from './filter-uses.js';
import type { BloomRegistersDecorator } from './decorator-types.js';
import type { BloomRegistersOptions } from './guard-options.js';
import { type IdsReader, idsReader } from './id-reader.js';
import type { IdRegistrar, Registration } from './id-registrar.js';
import type { OnlyOptions } from './method-verdict.js';
import { methodName } from './method-site.js';
import { proceed, type WrappedCall, wrappedCall, wrapMethod } from './method-wrapper.js';
import { assertNeedsNoRecord } from './unguarded.js';

/** Ids of one call: as many as a generous request creates, and few to record. */
const MAX_IDS = 1000;

/**
 * Records the id of what the method creates, so that guards let it pass. By default the id is in the arguments and is added
 * before the method runs: there is no moment when the row exists and is answered "absent". For an id that the database makes,
 * see `from: 'result'` and its window.
 *
 * A method that takes longer than half of `drainMs`, or during which the filter was rebuilt, has its id added once more before its
 * caller gets the result: its row may have become visible after the rebuild had read the table. The row has to be visible when the
 * method ends. So put the decorator on the method that commits, not on one that runs inside the transaction of its caller.
 *
 * What the method refuses has been added all the same, and stays until the next rebuild. `validate` refuses a call before its id is added.
 *
 * An id that cannot be recorded rejects the call, unless `onError: 'queue'`: with a 503 where a client waits. A value that cannot be an id rejects it
 * with a `BloomIdError`; where a client waits and the id is in its arguments, with a 400. An object that Nest did not construct records nothing: its
 * class is warned of once, and in a process that runs an application with filters the call rejects, since what it creates would be
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
    const method = methodName({ target, key, descriptor });
    const filter = namedFilter(name, 'BloomRegisters', method);
    const where = `@BloomRegisters(${filter.text}) on ${method}`;
    checkRegistersOptions(options, where);
    const { maxIds = MAX_IDS, validate } = options;
    if (!Number.isSafeInteger(maxIds) || maxIds < 1) throw new BloomConfigError(wrongMaxIds(where, maxIds));
    const isBefore = options.from !== 'result';
    const readWritten = idsReader(options.id, Infinity);
    const readIds = isBefore ? idsReader(options.id, maxIds) : readWritten;
    const context = contextReader({ target, key, descriptor });
    const { onError, id } = options;
    const declaration = { filter, method, isBefore, id, readIds, readWritten, context, onError, validate };
    wrapMethod({
      target,
      key,
      descriptor,
      use: { decorator: 'BloomRegisters', filter, method, key },
      around: (original) => (self, args, injected) =>
        callRegistering(declaration, wrappedCall(original, self, args, injected)),
    });
  };
}

interface RegisterDeclaration {
  readonly filter: NamedFilter;
  readonly method: string;
  /** Whether ids are recorded before the method runs. */
  readonly isBefore: boolean;
  readonly id: BloomRegistersOptions['id'];
  readonly readIds: IdsReader;
  /** Reads the ids of rows that exist: not one of them may be left out. */
  readonly readWritten: IdsReader;
  context(): CallContext;
  readonly onError: BloomRegistersOptions['onError'];
  readonly validate: BloomRegistersOptions['validate'];
}

async function callRegistering(declaration: RegisterDeclaration, call: WrappedCall): Promise<unknown> {
  const { filter: named, method, isBefore, readIds, onError, validate } = declaration;
  const { self, args, runner } = call;
  if (validate) assertIsVoid(method, await validate.apply(self, [...args]));
  if (!runner) {
    assertNeedsNoRecord({ filter: named.name ?? named.text, method }, call);
    return proceed(call);
  }
  const { registrar } = runner;
  const filter = named.name ?? named.nameOf(self!);
  if (isBefore) {
    let registration: Registration;
    try {
      registration = await registrar.register({ filter, ids: readIds(self, args), onError });
    } catch (error) {
      throw await refusal(declaration, registrar, { name: filter, error });
    }
    const registered = registeredCall(declaration, runner, { ...call, registration });
    let result: unknown;
    try {
      result = await proceed(call);
    } catch (error) {
      registered.noteFailed();
      await registered.settleAnyway();
      throw error;
    }
    if (isObservable(result)) return registeringAgain(result, registered);
    await registered.settle(result);
    return result;
  }
  const result = await proceed(call);
  try {
    await registrar.registerMade({ filter, ids: readIds(self, [result, ...args]), onError });
  } catch (error) {
    throw await refusal(declaration, registrar, { name: filter, error });
  }
  return result;
}

/** @throws {BloomConfigError} for an answer, which may mean that the call is to be refused. */
function assertIsVoid(method: string, answer: unknown): void {
  if (answer !== undefined) throw new BloomConfigError(answerOfValidate(method, answer));
}

/** The error of a call whose ids were not recorded: to a client of Nest, that its value cannot be used, or that it may try again later. */
async function refusal(
  { context, filter, method, isBefore }: RegisterDeclaration,
  registrar: IdRegistrar,
  { name, error }: { readonly name: string; readonly error: unknown },
): Promise<unknown> {
  const isClients = isForClient(context());
  if (error instanceof BloomIdError) {
    const named = new BloomIdError(notRegistered(filter.text, method, error.message), { cause: error });
    // A client has not chosen what the method returned.
    if (!isClients || !isBefore) return named;
    registrar.reportRefused(name, method, error);
    return badRequestError(context(), named);
  }
  if (!(error instanceof BloomUnavailableError) || !isClients) return error;
  return unavailableError(context(), error);
}

/** What is left to do for a call whose ids were added before it ran. */
interface RegisteredCall {
  /** Adds the ids that the call turned out to have, and all of them again where a rebuild may have missed one. */
  settle(result?: unknown): Promise<void>;
  /** The same for a call that may have written nothing; never rejects. */
  settleAnyway(): Promise<void>;
  noteFailed(): void;
}

function registeredCall(
  { method, id, readWritten }: RegisterDeclaration,
  { registrar, lessons }: BloomGuardRunner,
  { self, args, registration }: WrappedCall & { readonly registration: Registration },
): RegisteredCall {
  const { filter } = registration;
  let last = registration;
  // The method may have changed its arguments.
  const readArguments = () => lessons.callback({ filter, method }, 'id', () => readWritten(self, args)) ?? [];
  return {
    async settle(result) {
      last = await registrar.registerWritten(last, [...readArguments(), idIn(result, id)], method);
      last = await registrar.registerAgain(last);
    },
    settleAnyway: () => registrar.registerFailed(last, readArguments(), method),
    noteFailed: () => registrar.noteFailed(registration, method),
  };
}

/** What a row has in the property that is the id of the argument; undefined where that is no id. */
function idIn(result: unknown, id: BloomRegistersOptions['id']): unknown {
  if (typeof id !== 'string' || typeof result !== 'object' || result === null) return undefined;
  const value = (result as Record<string, unknown>)[id];
  return ['string', 'number', 'bigint'].includes(typeof value) || value instanceof Uint8Array
    ? value
    : undefined;
}

/**
 * A method whose stream does the work, when somebody subscribes to it, ends with the stream. Its first value
 * may be all that its caller waits for (`firstValueFrom`), so the call is settled before that too. When the
 * caller stops early it is settled as well, and nothing waits for that.
 */
function registeringAgain(stream: Observable<unknown>, call: RegisteredCall): Observable<unknown> {
  return defer(() => {
    let hasEnded = false;
    const settled = (result?: unknown) => defer(() => call.settle(result)).pipe(ignoreElements());
    const end = defer(() => {
      hasEnded = true;
      return settled();
    });
    const failed = (error: unknown) => {
      hasEnded = true;
      call.noteFailed();
      return concat(
        defer(() => call.settleAnyway()).pipe(ignoreElements()),
        throwError(() => error),
      );
    };
    const values = stream.pipe(
      concatMap((value, i) => (i === 0 ? concat(settled(value), of(value)) : of(value))),
      catchError(failed),
    );
    return concat(values, end).pipe(
      finalize(() => {
        if (!hasEnded) void call.settleAnyway();
      }),
    );
  });
}
