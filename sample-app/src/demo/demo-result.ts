/** What `--json` prints: others read it, so names stay. */
export interface DemoResult {
  readonly store: string;
  readonly catalog: { readonly source: string; readonly products: number };
  readonly phases: readonly PhaseResult[];
}

export interface PhaseResult {
  readonly name: string;
  readonly requests: number;
  readonly requestsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly cacheHits: number;
  readonly databaseQueries: number;
  readonly notFound: number;
  readonly falsePositives: number;
  /** Existing products that were answered "not found". */
  readonly wrongAbsent: number;
}
