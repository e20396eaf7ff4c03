import { BloomConfigError } from '../common/index.js';
import type { BloomPagingOptions } from './from-pages.js';
import type { RunQuery } from './planner-estimate.js';
import { rowsMayBeHidden } from './sources.messages.js';

/** Of a source that reads a table. */
export interface BloomTableOptions extends BloomPagingOptions {
  /**
   * The policies of row-level security show the user of the connection every row that may ever be looked up. Without it, a source does not
   * read a table of Postgres that has such policies for this user: rows that they hide would be answered "absent".
   */
  readonly seesAllRows?: boolean;
}

/** As `row_security_active`, which other databases of the dialect do not have. */
const HAS_POLICIES = `
select (c.relrowsecurity and not r.rolsuper and not r.rolbypassrls
        and (c.relforcerowsecurity or not pg_has_role(c.relowner, 'usage')))::text as "hasPolicies"
from pg_class c, pg_roles r
where c.oid = to_regclass($1) and r.rolname = current_user`;

/**
 * @param table quoted, as in a query.
 * @throws {BloomConfigError} for a table of Postgres of which this user sees the rows that policies show him.
 */
export async function expectAllRows(run: RunQuery, table: string): Promise<void> {
  const [row] = (await run(HAS_POLICIES, [table])) as { hasPolicies?: unknown }[];
  if (row?.hasPolicies !== 'true' && row?.hasPolicies !== true) return;
  throw new BloomConfigError(rowsMayBeHidden(table));
}
