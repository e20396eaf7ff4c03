import type { BloomMistake } from '../../src/index.js';
import type { GuardedVerdict } from '../../src/guard/method-verdict.js';

/** Never run: `npm run typecheck` fails when one of these is not exactly what the compiler prints. */
function prints<Verdict>() {
  return <Text extends string, Got>(
    ..._same: [Verdict] extends [BloomMistake<Text, Got>]
      ? [BloomMistake<Text, Got>] extends [Verdict]
        ? []
        : [Verdict]
      : [Verdict]
  ) => {};
}

type Verdict<Method, Options = {}> = GuardedVerdict<object, Method, Options>;

prints<Verdict<(ids: string[]) => Promise<void>>>()<
  "The first argument is not an id (string, number, bigint or Uint8Array). Name a property of it that is one, { id: 'name' }, or write a function { id: (…) => … } that returns one.",
  string[]
>();

prints<Verdict<(id: unknown) => Promise<void>>>()<
  'The type of the first argument is unknown. Give it the type of the id (string, number, bigint or Uint8Array), or write a function { id: (…) => … } that returns the id.',
  unknown
>();

prints<Verdict<(query: { sku: string }) => Promise<void>, { id: 'skuu' }>>()<
  "The first argument has no property 'skuu', which { id: 'skuu' } names. For a route parameter behind BloomInterceptor write { param: 'skuu' }.",
  { sku: string }
>();

prints<Verdict<(query: { at: Date }) => Promise<void>, { id: 'at' }>>()<
  "The property 'at' that { id: 'at' } names is not an id (string, number, bigint or Uint8Array). Name another one, or write a function { id: (…) => … } that returns one.",
  Date
>();

prints<Verdict<(sku: string) => string>>()<
  'The method must return a promise: a value cannot be withheld until the filter has answered.',
  string
>();

// @ts-expect-error What is compared is the text.
prints<Verdict<(sku: string) => string>>()<'The method must return another promise.', string>();
