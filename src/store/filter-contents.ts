/**
 * Which ids a generation holds. Processes whose contents differ must not answer "absent" for each other's
 * ids.
 */
export interface FilterContents {
  /** A short text for how ids are spelled: the same where all ids are spelled alike. */
  readonly spelling: string;
  /**
   * The rows whose ids they are, such as `products.sku`; undefined where that is not known, which equals any.
   */
  readonly rows: string | undefined;
}
