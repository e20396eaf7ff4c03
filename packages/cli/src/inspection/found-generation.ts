import type { BloomFilterState, BloomVerdict } from 'nestjs-bloom/store';
import type { IdKey } from 'nestjs-bloom/filter';
import type { Outdated } from 'nestjs-bloom/internal';
import type { BitsOfId } from './inspection.messages.js';

/** Names of the keys that every kind of filter has. */
export interface FoundKeys {
  readonly meta: string;
  readonly lease: string;
  readonly builds: string;
}

/** A live generation, as its own code reads it. */
export interface FoundGeneration {
  /** Names the generation. */
  readonly token: string;
  /** Bits set for an id that is hashed (k), where that is known without asking. */
  readonly hashCount?: number | undefined;
  /** Integers that have a bit each. Undefined: every id is hashed. */
  readonly range?: IntegerRange | undefined;
  readonly maxIdBytes?: number | undefined;
  /** What it was made with, as the metadata have it; of kinds that store it as a text. */
  readonly settings?: string | undefined;
  /** The keys that hold it. */
  readonly keys: readonly GenerationKey[];
  /** Undefined when the generation is not there any more. */
  measure(): Promise<GenerationMeasure | undefined>;
  check(id: IdKey): Promise<BloomVerdict | Outdated>;
  bitsOf?(id: IdKey): BitsOfId;
}

export interface GenerationKey {
  readonly key: string;
  /** Length of a string that is made of blocks. */
  readonly bytes?: number | undefined;
  /** What each of its blocks begins with, in hexadecimal digits. */
  readonly tag?: string | undefined;
}

/** Consecutive integers. */
export interface IntegerRange {
  readonly first: number;
  readonly last: number;
}

export interface GenerationMeasure {
  readonly count?: number | undefined;
  readonly bytes: number;
  /** Share of absent ids that pass now, not counting integers of a range: none of those passes. */
  readonly errorRate: number | undefined;
  /** Share of the bits that are set, of the range where there is one, and of how many blocks it was taken. */
  readonly fill?: { readonly share: number; readonly blocks: number } | undefined;
}

/** What stands in the metadata. */
export type FoundMeta =
  | { readonly kind: 'missing' }
  | { readonly kind: 'newer'; readonly found: string; readonly supported: string }
  | { readonly kind: 'nonsense'; readonly fault: string }
  | {
      readonly kind: 'known';
      readonly state: BloomFilterState;
      /** The server on which the live generation was made; '' when it was not known. */
      readonly runId: string;
      readonly areCountsPlausible: boolean;
      readonly builds: number;
      readonly ids: number;
      readonly count: number;
      readonly capacity: number;
      readonly errorRate: number;
      readonly builtAt: Date | undefined;
      readonly live: FoundGeneration | undefined;
      readonly staging: { readonly token: string; readonly keys: readonly string[] } | undefined;
    };

/** One kind of filter: where its metadata are, and how they are read. */
export interface InspectedKind {
  readonly layout: string;
  readonly keys: FoundKeys;
  read(type: string, fields: readonly string[]): FoundMeta;
}
