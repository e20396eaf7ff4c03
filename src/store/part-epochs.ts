/**
 * What a part of a filter does for the filter as a whole, where several processes share it. The part of an id
 * depends on its spelling. So processes with other contents are kept apart in all parts together: every
 * generation is built in an epoch, which the first part names.
 */
export interface PartEpochs {
  /**
   * The epoch as the store has it now, '' for none.
   *
   * @throws {BloomUnavailableError} when the store cannot be asked.
   */
  ask(): Promise<string>;

  /**
   * Puts another text in the place of `before`, unless the store has a different one; returns what it has
   * then.
   */
  replace(before: string, next: string): Promise<string>;

  /**
   * Ends what is live and staged in this part with other contents than this process has, or of another epoch.
   * Resolves when no process answers from it any more.
   *
   * @throws {BloomUnavailableError} when that could not be done.
   */
  endOthers(): Promise<void>;
}
