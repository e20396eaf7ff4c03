import type { BloomId } from '../filter/index.js';
import type { BloomMistake, IsAny } from './method-verdict.js';

/** Of a guard of many ids with these options: `void` for a method that it can guard. */
export type GuardedManyVerdict<Method, Options> = Method extends (...args: infer Args) => infer Result
  ? Result extends Promise<readonly (infer Row)[]>
    ? | TakesIds<Args>
      | (Options extends { key: infer Key } ? HasGaps<Row> | GivesKey<Row, Key> : HasNoGaps<Row>)
    : BloomMistake<'The method must return a promise of a list of rows.', Result>
  : BloomMistake<'Put the decorator on a method.', Method>;

type TakesIds<Args> = Args extends readonly [ids: infer Ids, ...rest: infer _]
  ? IsAny<Ids> extends true
    ? void
    : Ids extends readonly (infer Id)[]
      ? IsId<Id>
      : NoIds<Ids>
  : NoIds<Args>;

// Conditions distribute, as conditions on a type parameter of a class are decided by its constraint only then.
type IsId<Id> = IsAny<Id> extends true ? void : Id extends BloomId | null | undefined ? void : NoIds<Id>;

type NoIds<Got> = BloomMistake<
  'The first argument is not a list of ids (string, number, bigint or Uint8Array). For a single id write @BloomGuarded.',
  Got
>;

/** As results of functions: `null` fits `Row | null` then, whatever `Row` will be. */
type HasGaps<Row> = (() => null) extends () => Row
  ? void
  : BloomMistake<
      'With { key } the answer is null for an id without a row. Return a promise of (Row | null)[], or leave { key } out.',
      Row
    >;

type HasNoGaps<Row> =
  IsAny<Row> extends true
    ? void
    : Row extends null | undefined
      ? BloomMistake<
          'A list with null has a row for each id, which needs { key: (row) => row.id }. Without it, return only the rows that exist.',
          Row
        >
      : void;

type GivesKey<Row, Key> = Key extends (this: never, row: infer Param, ...rest: never[]) => unknown
  ? IsAny<Row> extends true
    ? void
    : IsTaken<NonNullable<Row>, Param>
  : void;

type IsTaken<Row, Param> = Row extends Param
  ? void
  : BloomMistake<'The function { key } takes something else than a row of the method.', Row>;
