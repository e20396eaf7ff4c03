import type { BloomVerdict, FilterShape } from 'nestjs-bloom/store';
import type { IdKey } from 'nestjs-bloom/filter';
import {
  type Adoption,
  type Outdated,
  PENDING,
  type Permission,
  type RebuiltFilter,
  type StagingBase,
  type StagingContext,
} from 'nestjs-bloom/internal';
import type { GenerationKeys } from './generation-keys.js';
import type { StoredGeneration } from './generation-meta.js';
import type { GenerationSnapshot, ResolvedGeneration } from './generation-snapshot.js';

/** Which generation of the metadata a caller means. */
export type GenerationRole = 'live' | 'staging';

/** The field of `meta` that names the generation. */
export const TOKEN_FIELDS: Readonly<Record<GenerationRole, string>> = {
  live: 'token',
  staging: `${PENDING}token`,
};

/** What a staging needs of the filter around it. */
export interface DrivenContext<Resolved extends ResolvedGeneration> extends RebuiltFilter<
  StoredGeneration,
  GenerationSnapshot<Resolved>
> {
  readonly keys: GenerationKeys;
}

/** A staging of a filter whose generations are named by a token. */
export type GenerationStaging<Resolved extends ResolvedGeneration> = StagingBase<
  StoredGeneration,
  GenerationSnapshot<Resolved>
>;

/** What the metadata of one kind of filter mean. */
export interface GenerationResolver<Resolved extends ResolvedGeneration> {
  /** The number of the layout; part of the checksum over a generation. */
  readonly layout: number;

  /**
   * What the metadata say, as it is used here; undefined when the settings make no sense.
   *
   * @throws {BloomUnavailableError} when the generation was made with other settings than those of this
   * process.
   */
  resolve(generation: StoredGeneration, role: GenerationRole): Resolved | undefined;

  /**
   * Makes readers that do not compare the token in each lookup notice that this generation went offline,
   * where there are such. Never rejects.
   */
  retire?(generation: StoredGeneration): Promise<void>;

  /**
   * Takes the filter as others have left it for the live generation: puts canaries in and writes the
   * metadata, unless a generation is live.
   *
   * @param states in which the metadata may be; missing ones are `unbuilt`.
   */
  adopt(states: readonly string[]): Promise<Adoption>;

  /** What names the build of a generation; its token, unless that changes without a build. */
  originOf?(generation: StoredGeneration): string;

  /** Keys of a generation that nobody else uses: they are removed when it was taken out of service. */
  ownKeys?(generation: StoredGeneration): string[];
}

/**
 * What one kind of filter on keys of others does its own way; `GenerationCodec` and `DrivenFilter` do the
 * rest. `check`, `add` and `adopt` are one script each, which compares the token in `meta` in the same atomic
 * step.
 */
export interface LayoutDriver<Resolved extends ResolvedGeneration> extends GenerationResolver<Resolved> {
  /**
   * How many ids one call of `check` or `add` may have, so that it holds the server for a millisecond at
   * most.
   */
  idsPerCall(resolved: Resolved | undefined): number;

  /** @throws {BloomIdError} for an id that is too long, or that no peer could have added. */
  assertFits(id: IdKey): void;

  /**
   * Verdicts, `absent` only with the proof that this very filter was read. `unknown` for an id that
   * `assertFits` refuses: a peer may have added it.
   */
  check(resolved: Resolved, ids: readonly IdKey[], role: GenerationRole): Promise<BloomVerdict[] | Outdated>;

  /**
   * Records ids in the live and in the staged generation, or in none when the metadata say otherwise; for
   * each, true when it was not there before. A staging that is found damaged is withdrawn, and is no reason
   * to fail.
   */
  add(
    live: Resolved | undefined,
    staging: Resolved | undefined,
    ids: readonly IdKey[],
  ): Promise<boolean[] | Outdated>;

  /** How many ids the live filter holds, and what it is like; undefined when it is not there any more. */
  measure(resolved: Resolved): Promise<{ count: number; shape: FilterShape } | undefined>;

  /** An empty filter beside the live one; nothing is written before its `open`. */
  stage(context: StagingContext, filter: DrivenContext<Resolved>): GenerationStaging<Resolved>;

  /**
   * Whether the server can have such filters at all.
   *
   * @throws {BloomConfigError} when it never can.
   */
  verify?(): Promise<void>;

  /** What its scripts need beside those of the metadata, on its own keys and on those of the peers. */
  permissions(): Permission[];

  /**
   * What in the setup endangers the filter, beside what is true of any filter on the server. Never rejects.
   */
  advise?(): Promise<readonly string[]>;
}
