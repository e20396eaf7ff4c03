/**
 * What a writer has done last when it is killed: its id is added, its row is inserted, its transaction is
 * committed.
 */
export type WriterPoint = 'add' | 'insert' | 'commit';

export interface WriterOptions {
  readonly redisUrl: string;
  readonly databaseUrl: string;
  readonly name: string;
  readonly at: WriterPoint;
}
