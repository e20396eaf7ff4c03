import type { FilterTarget } from 'nestjs-bloom/filter';
import type { BitmapFilter, BitmapLayout, Geometry } from '../../formats/bitmap-filter.js';
import type { LayoutKind } from '../../formats/layout-numbers.js';
import type { StagePlan } from 'nestjs-bloom/store';

/** What peers have under the keys of a filter. */
export interface FoundString {
  /** Type of the key; `none`: there is no such key. */
  readonly type: string;
  /** In bytes. */
  readonly length: number;
  /** As many first bytes as the format asked for. */
  readonly head: Buffer;
  /** The hash that is kept beside the string; undefined when there is none. */
  readonly settings: Readonly<Record<string, string>> | undefined;
}

/** The size of a filter that is found or planned, and what else of it is stored. */
export interface BitmapSize extends Geometry {
  /** What the peer says, or was given, as the purpose of the filter. */
  readonly target: FilterTarget;
  /**
   * Ids that a rebuild puts into it before it plans a larger one; Infinity where the size is not for a
   * rebuild to choose.
   */
  readonly rebuildCapacity: number;
}

/** What a layout of one row of bits has of its own, as its peers keep it in Redis. */
export interface BitmapFormat {
  readonly kind: LayoutKind;
  /** The key of the string. */
  readonly key: string;
  /** The key of the settings, where peers keep some. */
  readonly settingsKey?: string;
  /** What is hashed of an id, which is not stored: every side must be given the same. */
  readonly encoding: string;
  /** The size that the options give; undefined where it is stored with the filter. */
  readonly fixed: Geometry | undefined;
  /** Bytes before the bits that hold the size. */
  readonly headBytes: number;
  /**
   * Whether peers read a missing string as an empty filter, so that a rebuild may make one before it is done.
   */
  readonly readsMissingAsEmpty: boolean;
  /** Whether a filter may be there whose string is not: nothing was added yet. */
  readonly existsWithoutString: boolean;

  /**
   * The size of the filter that is there, or of any filter with these options.
   *
   * @throws {BloomFormatError} when what is found is no such filter.
   */
  sizeOf(found: FoundString): BitmapSize | undefined;

  /** The size to build. */
  plan(plan: StagePlan, found: BitmapSize | undefined): BitmapSize;

  layout(geometry: Geometry): BitmapLayout;

  /** @throws {BloomConfigError} when it would exceed 4 GiB. */
  emptyFilter(geometry: Geometry): BitmapFilter<BitmapLayout>;

  /** The bytes before the bits. */
  head(geometry: Geometry): Buffer;

  /** Fields and values of the settings that decide where bits are. */
  geometryFields(geometry: Geometry): string[];

  /** Fields and values of all settings of a new filter. */
  settings(size: BitmapSize): string[];
}
