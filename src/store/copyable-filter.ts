import type { FilterFill, Generation } from '../filter/index.js';
import type { LeaseServer } from './lease-server.js';
import type { FilterDescription } from './filter-description.js';
import type { FilterStore, OpenFilterOptions, StoredFilter } from './store.js';

/** Blocks are read from one group at a time, which begins at a multiple of this number. */
export const GROUP_BLOCKS = 4096;

/** A store whose blocks a process may copy. */
export interface CopyableStore extends FilterStore {
  /** A filter of layout `blocked`. */
  openCopyable(options: OpenFilterOptions & { readonly onBlocks: BlockListener }): CopyableFilter;
}

export interface CopyableFilter extends StoredFilter {
  measureFill(): Promise<FilterFill | undefined>;

  /** Undefined where this process may not answer "absent" from a copy. */
  readonly leases?: LeaseServer | undefined;

  describe(): Promise<CopyableDescription>;

  /**
   * Blocks of the live generation as they are stored, at most 256 of one group. They may be fewer or of
   * another generation: their tags show it.
   *
   * @throws {BloomUnavailableError} when the store cannot be asked.
   */
  readBlocks(first: number, count: number): Promise<Uint8Array>;

  /**
   * The staging with this tag; undefined when it is not there.
   *
   * @throws {BloomUnavailableError} when the store cannot be asked.
   */
  staged?(tag: Generation['tag']): Promise<StagedBlocks | undefined>;
}

/** A staged generation, whose blocks may be read. */
export interface StagedBlocks extends Pick<CopyableFilter, 'readBlocks'> {
  readonly generation: Generation;
}

export interface CopyableDescription extends FilterDescription {
  /** The live generation; undefined unless `ready`. */
  readonly generation: Generation | undefined;
}

/** Called with what a check has read. */
export type BlockListener = (read: BlocksRead) => void;

export interface BlocksRead {
  /** The generation that was asked; a block that is not of it has another tag. */
  readonly generation: Generation;
  /** Where each block is. */
  readonly numbers: ArrayLike<number>;
  readonly blocks: readonly Uint8Array[];
}
