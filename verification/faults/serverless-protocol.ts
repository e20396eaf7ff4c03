/** What a process is started with that is to stand still. */
export interface ServerlessOptions {
  readonly redisUrl: string;
  readonly capacity: number;
}

/** One call of such a process. */
export interface ServerlessCall {
  /** Ids that exist: it looks each up until the filter can judge it. */
  readonly ids: readonly string[];
  /** It adds this one first. */
  readonly added: string;
}

export type FromServerless =
  | { readonly type: 'ready' }
  | { readonly type: 'answered'; readonly first: string; readonly absent: readonly string[] };
