import { BloomConfigError } from '../common/index.js';
import type { BloomPagingOptions } from './from-pages.js';
import type { RunQuery } from './planner-estimate.js';
import { mayLagBehind, rowsMayBeHidden } from './sources.messages.js';

/** Options of a source that reads a table. */
export interface BloomTableOptions extends BloomPagingOptions {
  /**
   * The policies of row-level security show the user of the connection every row that may ever be looked up.
   * Without it, a source does not read a table of Postgres that has such policies for this user: rows that
   * they hide would be answered "absent".
   */
  readonly seesAllRows?: boolean;
  /**
   * The server may be a standby of Postgres. `rebuild.drainMs`, and `topUp.overlapMs`, then have to be longer
   * than it ever lags behind. Without it, a source does not read a standby: rows that it has not received
   * would be answered "absent".
   */
  readonly fromReplica?: boolean;
}

/** What a table of Postgres may lack for whoever reads it. */
export type AllRowsOptions = Pick<BloomTableOptions, 'seesAllRows' | 'fromReplica'>;

/** As `row_security_active`, which other databases of the dialect do not have. */
const HAS_POLICIES = `
select (c.relrowsecurity and not r.rolsuper and not r.rolbypassrls
        and (c.relforcerowsecurity or not pg_has_role(c.relowner, 'usage')))::text as answer
from pg_class c, pg_roles r
where c.oid = to_regclass($1) and r.rolname = current_user`;

const IS_STANDBY = 'select pg_is_in_recovery()::text as answer';

/**
 * @param table quoted, as in a query.
 * @throws {BloomConfigError} for a standby, and for a table of Postgres of which this user sees the rows that
 * policies show him.
 */
export async function expectAllRows(
  run: RunQuery,
  table: string,
  { seesAllRows = false, fromReplica = false }: AllRowsOptions,
): Promise<void> {
  if (!fromReplica) await expectPrimary(run, table);
  if (!seesAllRows && (await isTrue(run(HAS_POLICIES, [table]))))
    throw new BloomConfigError(rowsMayBeHidden(table));
}

/** @throws {BloomConfigError} for a standby. */
export async function expectPrimary(run: RunQuery, table: string): Promise<void> {
  if (await isTrue(run(IS_STANDBY, []))) throw new BloomConfigError(mayLagBehind(table));
}

async function isTrue(asked: Promise<readonly unknown[]>): Promise<boolean> {
  const [row] = (await asked) as { answer?: unknown }[];
  return row?.answer === 'true' || row?.answer === true;
}
