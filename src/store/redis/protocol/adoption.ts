/** What came of taking a filter as others have left it. */
export type Adoption =
  | { readonly outcome: 'adopted' }
  /** There is no such filter. */
  | { readonly outcome: 'missing' }
  /** What is there is not the filter that is meant: why, and what to do. */
  | { readonly outcome: 'unfit'; readonly reason: string }
  /** The metadata are not what they were: read them again. */
  | { readonly outcome: 'stale' };
