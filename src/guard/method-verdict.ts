import type { BloomId, BloomScope } from '../filter/index.js';

/**
 * What a decorator returns on a method that it cannot serve. No decorator may return it, so the compiler
 * refuses the decorator and prints `Text`, which says what to write, and `Got`, the type that was found.
 */
export interface BloomMistake<Text extends string, Got = unknown> {
  /** What to write. */
  readonly mistake: Text;
  /** What was found. */
  readonly got: Got;
}

/** `void` for a method that a guard with these options can guard. */
export type GuardedVerdict<Target, Method, Options> = OnMethod<
  Target,
  Method,
  {
    /** Where the id is looked for. */
    reads: Options extends Record<'param', {}>
      ? Options extends Record<'id', {}>
        ? 'argument'
        : 'request'
      : 'argument';
    /** The option. */
    id: OptionOf<Options, 'id'>;
    /** The option. */
    scope: OptionOf<Options, 'scope'>;
    /** The option. */
    onAbsent: OptionOf<Options, 'onAbsent'>;
  }
>;

/** A mistake for a guarded method that returns a list and whose answer for an absent id is not chosen. */
export type ListVerdict<Method, Options> =
  OptionOf<Options, 'onAbsent'> extends undefined ? HasList<CallsOf<Method>> : void;

/** `void` for a method whose ids a decorator with these options can register. */
export type RegistersVerdict<Target, Method, Options> = OnMethod<
  Target,
  Method,
  {
    /** Where the id is looked for. */
    reads: Options extends Record<'from', 'result'> ? 'result' : 'argument';
    /** The option. */
    id: OptionOf<Options, 'id'>;
    /** The option. */
    scope: OptionOf<Options, 'scope'>;
    /** It has no such option. */
    onAbsent: undefined;
  }
>;

/** A mistake where the function that names the filter takes an instance of another class. */
export type OtherSelf<Self> =
  IsAny<Self> extends true
    ? void
    : BloomMistake<
        'The function that names the filter takes an instance of another class than that of this method.',
        Self
      >;

/** Refuses options of other names, where the type of the options is inferred. */
export type OnlyOptions<Options, Known> = {
  readonly [Key in Exclude<keyof Options, keyof Known>]: BloomMistake<'There is no option of this name.'>;
};

type OptionOf<Options, Name extends string> = Name extends keyof Options ? Options[Name] : undefined;

interface Reading {
  /** Where the id is looked for; `request`: by `BloomInterceptor` alone. */
  reads: 'argument' | 'result' | 'request';
  id: unknown;
  scope: unknown;
  onAbsent: unknown;
}

type OnMethod<Target, Method, Options extends Reading> = Target extends Function
  ? BloomMistake<'Put the decorator on an instance method: a static method has no object that Nest constructs.'>
  : [CallsOf<Method>] extends [never]
    ? BloomMistake<'Put the decorator on a method.', Method>
    : OnCall<CallsOf<Method>, Options>;

interface Call {
  args: unknown;
  result: unknown;
}

/** The parameters and the result of a method; of one with overloads those of each, of up to four. */
type CallsOf<Method> = Method extends (...args: infer Args) => infer Result
  ? ((...args: Args) => Result) extends Method
    ? { args: Args; result: Result }
    : OverloadsOf<Method>
  : never;

type OverloadsOf<Method> = Method extends {
  (...args: infer A1): infer R1;
  (...args: infer A2): infer R2;
  (...args: infer A3): infer R3;
  (...args: infer A4): infer R4;
}
  ? { args: A1; result: R1 } | { args: A2; result: R2 } | { args: A3; result: R3 } | { args: A4; result: R4 }
  : never;

type OnCall<Of extends Call, Options extends Reading> = Of extends Call
  ? Of['result'] extends Promise<unknown>
    ? IdVerdict<Of, Options> | ScopeVerdict<Of, Options> | AnswerVerdict<Resolved<Of>, Options['onAbsent']>
    : BloomMistake<
        'The method must return a promise: a value cannot be withheld until the filter has answered.',
        Of['result']
      >
  : never;

/** Not `Awaited`, which stays open for the type parameter of a class. */
type Resolved<Of extends Call> = Of['result'] extends Promise<infer Value> ? Value : never;

/** Undefined and null are invalid ids at run time, and a parameter may be optional all the same. */
type MaybeId = BloomId | null | undefined;

type IsAny<Type> = 0 extends 1 & Type ? true : false;

type IdVerdict<Of extends Call, Options extends Reading> = Options['reads'] extends 'request'
  ? void
  : Options['id'] extends undefined
    ? IsId<Holder<Of, Options>, HolderName<Options>>
    : string extends Options['id']
      ? void
      : Options['id'] extends string
        ? HasId<Holder<Of, Options>, Options['id'], HolderName<Options>>
        : TakesArguments<Options['id'], FunctionArguments<Of, Options>>;

type ScopeVerdict<Of extends Call, Options extends Reading> = Options['reads'] extends 'request'
  ? void
  : Options['scope'] extends string
    ? HasScope<Holder<Of, Options>, Options['scope'], HolderName<Options>>
    : TakesArguments<Options['scope'], FunctionArguments<Of, Options>>;

type HasScope<Value, Property extends string, Name extends string> =
  IsAny<Value> extends true
    ? void
    : Value extends { readonly [Key in Property]: BloomScope | null | undefined } | null | undefined
      ? void
      : BloomMistake<
          `${Name} has no property '${Property}' that is a scope (string, number or bigint). For a route parameter write { param: 'id', scope: '${Property}' }.`,
          Value
        >;

type Holder<Of extends Call, Options extends Reading> = Options['reads'] extends 'result'
  ? Resolved<Of>
  : FirstOf<Of['args']>;

type HolderName<Options extends Reading> = Options['reads'] extends 'result'
  ? 'The result'
  : 'The first argument';

type FirstOf<Args> = Args extends readonly []
  ? void
  : Args extends readonly [first?: infer First, ...rest: infer _]
    ? First
    : void;

type FunctionArguments<Of extends Call, Options extends Reading> = Of['args'] extends infer Args extends
  readonly unknown[]
  ? Options['reads'] extends 'result'
    ? [result: Resolved<Of>, ...args: Args]
    : Args
  : never;

// The conditions on `Value` distribute, as conditions on a type parameter of a class are decided by its
// constraint only then.

type IsId<Value, Name extends string> =
  IsAny<Value> extends true
    ? void
    : Value extends MaybeId
      ? void
      : unknown extends Value
        ? BloomMistake<
            `The type of ${Uncapitalize<Name>} is unknown. Give it the type of the id (string, number, bigint or Uint8Array), or write a function { id: (…) => … } that returns the id.`,
            Value
          >
        : BloomMistake<
            `${Name} is not an id (string, number, bigint or Uint8Array). Name a property of it that is one, { id: 'name' }, or write a function { id: (…) => … } that returns one.`,
            Value
          >;

type HasId<Value, Property extends string, Name extends string> =
  IsAny<Value> extends true
    ? void
    : Value extends { readonly [Key in Property]: MaybeId } | null | undefined
      ? void
      : HasOptionalId<Value, Property, Name>;

type HasOptionalId<Value, Property extends string, Name extends string> = Property extends keyof Value
  ? IsIdProperty<Value[Property], Property>
  : BloomMistake<
      `${Name} has no property '${Property}', which { id: '${Property}' } names. For a route parameter behind BloomInterceptor write { param: '${Property}' }.`,
      Value
    >;

type IsIdProperty<Got, Property extends string> =
  IsAny<Got> extends true
    ? void
    : Got extends MaybeId
      ? void
      : BloomMistake<
          `The property '${Property}' that { id: '${Property}' } names is not an id (string, number, bigint or Uint8Array). Name another one, or write a function { id: (…) => … } that returns one.`,
          Got
        >;

type TakesArguments<Id, Args extends readonly unknown[]> = Id extends (
  this: never,
  ...args: infer Params
) => unknown
  ? Id extends (this: never, ...args: Args) => unknown
    ? void
    : TakeEach<Args, Params>
  : void;

/** One by one, for type parameters of a class. */
type TakeEach<Args extends readonly unknown[], Params extends readonly unknown[]> = Params extends readonly []
  ? void
  : Params extends readonly [infer Param, ...infer OtherParams]
    ? Args extends readonly [infer Arg, ...infer OtherArgs]
      ? TakesArgument<Arg, Param> | TakeEach<OtherArgs, OtherParams>
      : TakesArgument<'no argument', never>
    : TakesArgument<Args, never>;

type TakesArgument<Arg, Param> =
  IsAny<Arg> extends true
    ? void
    : Arg extends Param
      ? void
      : BloomMistake<
          'The function { id } or { scope } takes other arguments than the method has. One that reads the request behind BloomInterceptor is { param: (request) => … }.',
          Arg
        >;

type HasList<Of extends Call> = Of extends Call
  ? IsAny<Resolved<Of>> extends true
    ? void
    : [Resolved<Of>] extends [never]
      ? void
      : BloomMistake<
          "The method returns a list. Say what it answers for an absent id: { onAbsent: 'empty' } is an empty list, { onAbsent: 'not-found' } an error.",
          Resolved<Of>
        >
  : never;

type AnswerVerdict<Value, Answer> = Answer extends 'null'
  ? AnswerFits<null, Value, 'null'>
  : Answer extends 'empty'
    ? AnswerFits<never[], Value, 'empty'>
    : void;

/** As results of functions: `null` fits `Row | null` then, whatever `Row` will be. */
type AnswerFits<Answered, Value, Option extends string> = (() => Answered) extends () => Value
  ? void
  : BloomMistake<
      `The method does not return what { onAbsent: '${Option}' } answers. Write { onAbsent: 'not-found' }, or a function.`,
      Value
    >;

/** `void` for a method that a guard of many ids with these options can guard. */
export type GuardedManyVerdict<Method, Options> = Method extends (
  ...args: infer Args extends readonly unknown[]
) => infer Result
  ? Result extends Promise<readonly (infer Row)[]>
    ? | TakesIds<Args>
      | (Options extends { scope: infer Scope } ? TakesArguments<Scope, Args> : void)
      | (Options extends { key: infer Key } ? HasGaps<Row> | GivesKey<Row, Key> : HasNoGaps<Row>)
    : BloomMistake<'The method must return a promise of a list of rows.', Result>
  : BloomMistake<'Put the decorator on a method.', Method>;

type TakesIds<Args> = Args extends readonly [ids: infer Ids, ...rest: infer _]
  ? IsAny<Ids> extends true
    ? void
    : Ids extends readonly (infer Id)[]
      ? IsManyId<Id>
      : NoIds<Ids>
  : NoIds<Args>;

type IsManyId<Id> = IsAny<Id> extends true ? void : Id extends BloomId | null | undefined ? void : NoIds<Id>;

type NoIds<Got> = BloomMistake<
  'The first argument is not a list of ids (string, number, bigint or Uint8Array). For a single id write @BloomGuarded.',
  Got
>;

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
