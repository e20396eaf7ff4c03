import type { StoredFilter } from '../../store/index.js';

/** Opens a filter that was never built. */
export type OpenFilter = () => StoredFilter | Promise<StoredFilter>;

/** One thing that holds for every store. */
export interface StoreContractCase {
  /** For people. */
  readonly name: string;
  /**
   * Opens a filter, tries it and closes it; rejects with an `AssertionError` where it breaks the contract.
   */
  run(): Promise<void>;
}

type It = (name: string, tries: (filter: StoredFilter) => Promise<void>) => void;

/** The cases of a group, each with a filter of its own. */
export function casesOf(group: string, open: OpenFilter, declare: (it: It) => void): StoreContractCase[] {
  const cases: StoreContractCase[] = [];
  declare((name, tries) => {
    cases.push({ name: `${group} ${name}`, run: () => withFilter(open, tries) });
  });
  return cases;
}

async function withFilter(open: OpenFilter, tries: (filter: StoredFilter) => Promise<void>): Promise<void> {
  const filter = await open();
  try {
    await tries(filter);
  } finally {
    await filter.close();
  }
}
