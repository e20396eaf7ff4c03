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
import { BloomConfigError, printed } from '../common/index.js';
import type { BloomMethodDecorator, BloomRegistersOptions } from './guard.options.js';
import { readIds } from './id.reader.js';
import type { IdRegistrar, Registration } from './id.registrar.js';
import { methodName, proceed, type WrappedCall, wrapMethod } from './method.wrapper.js';

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
 * An id that cannot be recorded rejects the call, unless `onError: 'queue'`. So does an object that Nest did not construct:
 * what it creates would be answered "absent".
 *
 * @example
 * ```ts
 * @BloomRegisters('products', { id: 'sku' })
 * async create(product: NewProduct): Promise<Product> { … }
 * ```
 */
export function BloomRegisters(filter: string, options: BloomRegistersOptions = {}): BloomMethodDecorator {
  return (target, key, descriptor) => {
    const method = methodName({ target, key, descriptor });
    const { maxIds = MAX_IDS } = options;
    if (!Number.isSafeInteger(maxIds) || maxIds < 1) {
      throw new BloomConfigError(
        `@BloomRegisters('${filter}') on ${method}: expected maxIds to be a number of ids from 1 on, got ${printed(maxIds)}.`,
      );
    }
    wrapMethod({
      target,
      key,
      descriptor,
      use: { decorator: 'BloomRegisters', filter, method },
      around: (call) => callRegistering({ filter, method, options, maxIds }, call),
    });
  };
}

async function callRegistering(
  declaration: { filter: string; method: string; options: BloomRegistersOptions; maxIds: number },
  call: WrappedCall,
): Promise<unknown> {
  const { filter, method, options, maxIds } = declaration;
  const { self, args, runner } = call;
  if (!runner) {
    throw new BloomConfigError(
      `${method} cannot record ids in filter '${filter}': ` +
        (call.hasStandIn
          ? 'something else was injected in place of BloomGuardRunner. Import BloomModule.forRoot() in the root module; in a test that ' +
            'mocks what is missing too, without redis.'
          : 'its object was not constructed by Nest. Provide the class itself instead of a factory or a value, or remove the decorator ' +
            'and call filter.add(id) in the method.'),
    );
  }
  const { registrar } = runner;
  const { onError } = options;
  if (options.from !== 'result') {
    const ids = readIds({ id: options.id, maxIds }, self, args);
    const registration = await registrar.register({ filter, ids, onError });
    let result: unknown;
    try {
      result = await proceed(call);
    } catch (error) {
      await registrar.registerFailed(registration);
      throw error;
    }
    if (isObservable(result)) return registeringAgain(result, registrar, registration);
    await registrar.registerAgain(registration);
    return result;
  }
  const result = await proceed(call);
  // The rows exist: not one of them may be left out.
  const ids = readIds({ id: options.id, maxIds: Infinity }, self, [result, ...args]);
  await registrar.registerMade({ filter, ids, onError });
  return result;
}

/**
 * Of a method whose stream does the work, when somebody subscribes to it: it ends with the stream. Its first value may be all that its caller
 * waits for (`firstValueFrom`), so the ids are added again before that too; and when the caller stops early, without anybody who waits for it.
 */
function registeringAgain(
  stream: Observable<unknown>,
  registrar: IdRegistrar,
  registered: Registration,
): Observable<unknown> {
  return defer(() => {
    let registration = registered;
    let hasEnded = false;
    const again = defer(async () => {
      registration = await registrar.registerAgain(registration);
    }).pipe(ignoreElements());
    const end = defer(() => {
      hasEnded = true;
      return again;
    });
    const failed = (error: unknown) => {
      hasEnded = true;
      return concat(
        defer(() => registrar.registerFailed(registration)).pipe(ignoreElements()),
        throwError(() => error),
      );
    };
    const values = stream.pipe(
      concatMap((value, i) => (i === 0 ? concat(again, of(value)) : of(value))),
      catchError(failed),
    );
    return concat(values, end).pipe(
      finalize(() => {
        if (!hasEnded) void registrar.registerFailed(registration);
      }),
    );
  });
}
