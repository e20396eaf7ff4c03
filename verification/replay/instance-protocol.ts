import type { Product } from '../../sample-app/src/catalogue/product.js';
import type { Safety } from '../../test/support/broken-lua.js';

/** Options of the filter of the products, on a cluster and with leases. */
export const PARTITIONS = 16;

/** What an instance is started with. */
export interface InstanceOptions {
  readonly redisUrl: string;
  /** Addresses that the nodes of a cluster name, and where they are. */
  readonly natMap?: Readonly<Record<string, { readonly host: string; readonly port: number }>>;
  readonly databaseUrl: string;
  /** Copies of the parts answer "absent". */
  readonly leased: boolean;
  readonly without: Safety | undefined;
}

export type Request =
  /** Asks for a product that does not exist yet, then creates it. */
  | { readonly type: 'create'; readonly product: Product }
  /** Looks existing products up. */
  | { readonly type: 'lookup'; readonly skus: readonly string[] }
  | { readonly type: 'stop' };

export interface Reply {
  readonly lookups: number;
  readonly created: number;
  readonly wrongAbsent: number;
  readonly falsePositives: number;
  /** Products that were asked for, before they were created, while the filter could not tell. */
  readonly unknown: number;
  readonly rebuilds: number;
  readonly skipped: number;
  /** Ids that the copy in the process answered for, without Redis. */
  readonly fromCopies: number;
}

export const NOTHING: Reply = {
  lookups: 0,
  created: 0,
  wrongAbsent: 0,
  falsePositives: 0,
  unknown: 0,
  rebuilds: 0,
  skipped: 0,
  fromCopies: 0,
};

/** What an instance without Redis is started with. */
export interface MemoryOptions {
  readonly databaseUrl: string;
  /** Failures of the database are not printed. */
  readonly isQuiet?: boolean;
}

export type MemoryRequest =
  /** Makes a row, in a transaction that is open for so long. */
  | { readonly type: 'create'; readonly openMs: number }
  /** Looks rows up, and ids of no row. */
  | { readonly type: 'lookup'; readonly ids: readonly number[]; readonly others: readonly number[] }
  /** Adds an id, which may be refused. */
  | { readonly type: 'add'; readonly id: number }
  /** Sets the wall clock forward. */
  | { readonly type: 'clock'; readonly byMs: number }
  | { readonly type: 'stop' };

export interface MemoryReply extends Reply {
  /** The id of the row that was made, and one of no row; of lookups the ids that were answered "absent". */
  readonly ids?: readonly number[];
  /** Ids of no row that were answered "absent". */
  readonly denied?: number;
  /** Adds that were refused. */
  readonly refused?: number;
}
