/**
 * A protocol as a machine: every step that any of its actors can take, one atomic step of a server or of a
 * process at a time.
 */
export interface Model<State> {
  readonly initial: State;
  /**
   * Calls `take` with each state that one step leads to. `step` names the kind of step, the same text each
   * time.
   */
  steps(state: State, take: (next: State, step: string) => void): void;
  /** What is wrong in the state; undefined where the promise holds. */
  violation(state: State): string | undefined;
  /**
   * A short text that two states share only if whatever can follow is the same for both. Actors of which none
   * can be told from another come in a fixed order, so that they are explored once.
   */
  key(state: State): string;
}

export interface Exploration {
  /** Different states that were found. */
  readonly states: number;
  /** Undefined where every state was looked at and the promise held in all of them. */
  readonly violation: Violation | undefined;
  /** Whether there were more states than the limit. Nothing was proved then. */
  readonly isCut: boolean;
}

export interface Violation {
  readonly what: string;
  /** The shortest way to it. */
  readonly steps: readonly string[];
}

/** What names one protocol and its rules, each of which can be taken out. */
export interface Protocol<Safety extends string = string> {
  readonly name: string;
  /** What each rule says, by its name. */
  readonly safeties: Readonly<Record<Safety, string>>;
  /** Systems of different actors, each small enough to be explored whole. */
  readonly systems: readonly ModelledSystem<Safety>[];
}

export interface ModelledSystem<Safety extends string = string> {
  /** Processes that take part. */
  readonly name: string;
  /** Whether only `--full` explores it whole. */
  readonly isLarge: boolean;
  /** The rules that are taken out of this system, one at a time, to show that each is needed. */
  readonly shows: readonly Safety[];
  /**
   * The rules without which the promise holds in this system as well: each is taken out, to show that it only
   * saves work.
   */
  readonly spares: readonly Safety[];
  build(without: Safety | undefined): Model<unknown>;
}

/** What makes the systems of a protocol, each from the numbers of its actors. */
export function systemsOf<Size, Safety extends string, State>(
  buildModel: (size: Size, without: Safety | undefined) => Model<State>,
) {
  return (
    name: string,
    size: Size,
    {
      shows = [],
      spares = [],
      isLarge = false,
    }: Partial<Omit<ModelledSystem<Safety>, 'name' | 'build'>> = {},
  ): ModelledSystem<Safety> => ({
    name,
    shows,
    spares,
    isLarge,
    build: (without) => buildModel(size, without) as Model<unknown>,
  });
}
