/** What a reader is started with. */
export interface CopyReaderOptions {
  readonly redisUrl: string;
  readonly leaseMs: number;
  /** It asks for the ids from `lateId(0)` on, again and again. */
  readonly ids: number;
}

export type FromCopyReader =
  /** Its copy is leased for the first time. */
  | { readonly type: 'leased' }
  /** For each id when a lookup began that answered "absent", the latest one, by `machineMs`; 0 for none. */
  | { readonly type: 'ended'; readonly absentAt: readonly number[]; readonly local: number };

export function lateId(number: number): string {
  return `late-${number}`;
}

/** Milliseconds of a clock that all processes of a machine share. */
export function machineMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
