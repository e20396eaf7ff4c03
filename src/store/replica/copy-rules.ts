/**
 * What makes an "absent" from a copy true, by the names of the model in verification/model/leased-copies.ts. A test takes one out, to see that it
 * is missed.
 */
export interface CopyRules {
  /** A lease is asked for, and so the number of the feed learned, before blocks are loaded. */
  readonly 'number-before-load': boolean;
  /** A copy is loaded from the server that granted its lease: another one may have less. */
  readonly 'one-server': boolean;
  /** A renewal counts when all entries up to the number in its reply have been applied. */
  readonly 'renew-applied': boolean;
  /** An entry is acknowledged after it has been applied. */
  readonly 'ack-applied': boolean;
  /** A copy that lacks entries is loaded again. */
  readonly 'gap-seen': boolean;
  /** A message with an entry is applied only if it follows on what was applied. */
  readonly 'message-follows': boolean;
  /** An entry of another generation ends a copy. */
  readonly 'tag-in-entry': boolean;
  /** Numbers belong to one feed: a copy that meets another one is loaded again. */
  readonly 'feed-identity': boolean;
  /** A lease ends for its reader by the reader's own clocks, before it ends for the server. */
  readonly 'lease-ends': boolean;
  /** A lease is counted from before it was asked for, however late the reply comes. */
  readonly 'before-asking': boolean;
  /** A lease ends when the wall clock says so, whatever the monotonic clock does. The models have no clocks. */
  readonly 'wall-clock': boolean;
  /** A lease ends when the monotonic clock says so, whatever the wall clock does. */
  readonly 'monotonic-clock': boolean;
  /** The copies of a process have the ids of its adds before these are sent: the store takes them for acknowledged by its own reader. */
  readonly 'own-copy': boolean;
  /** A copy of a staging takes the place of the one before only when it is loaded. */
  readonly 'next-whole': boolean;
  /** A copy of a staging takes that place only when this staging goes live. */
  readonly 'next-of-swap': boolean;
}

export const COPY_RULES: CopyRules = {
  'number-before-load': true,
  'one-server': true,
  'renew-applied': true,
  'ack-applied': true,
  'gap-seen': true,
  'message-follows': true,
  'tag-in-entry': true,
  'feed-identity': true,
  'lease-ends': true,
  'before-asking': true,
  'wall-clock': true,
  'monotonic-clock': true,
  'own-copy': true,
  'next-whole': true,
  'next-of-swap': true,
};
