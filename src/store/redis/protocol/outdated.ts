const REASONS = [
  /** Another generation is live or staged. */
  'STALE',
  /** The generation is right, and what it names is not there or not the same. */
  'LOST',
  /** The generation was not found where it should be. Whether it is lost or another one is live, the metadata say. */
  'UNPROVED',
  /** There are no metadata. */
  'NOMETA',
] as const;

/** Why nothing was answered or written: the filter is not as this process knew it. */
export type Outdated = (typeof REASONS)[number];

export function isOutdated(reply: string): reply is Outdated {
  return (REASONS as readonly string[]).includes(reply);
}
