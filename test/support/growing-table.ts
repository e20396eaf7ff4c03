import type { BloomIdSource } from 'nestjs-bloom';

/** An id that no row of `fill` has, and that is covered. */
export const GAP = 7;

/** A table whose ids are taken in ascending order, some of them long before their rows are committed. */
export class GrowingTable {
  readonly ids: number[] = [];
  /** How often all rows were read, and how often those after a mark. */
  scans = 0;
  readings = 0;
  fails = false;
  private last = 0;

  /** As a sequence does, before the commit. */
  nextId(): number {
    return ++this.last;
  }

  commit(...ids: number[]): void {
    this.ids.push(...ids);
    this.ids.sort((a, b) => a - b);
  }

  insert(): number {
    const id = this.nextId();
    this.commit(id);
    return id;
  }

  /** Ids up to this one, but `GAP`, and the larger gaps after it: the largest ones are not covered. */
  fill(upTo: number): void {
    const isInLarger = (id: number) => id > GAP + 2 && id < 32 && id % 3 > 0;
    for (let id = this.nextId(); ; id = this.nextId()) {
      if (id !== GAP && !isInLarger(id)) this.commit(id);
      if (id === upTo) return;
    }
  }

  /** As `TRUNCATE … RESTART IDENTITY`. */
  truncate(): void {
    this.ids.length = this.last = 0;
  }

  /** As `TRUNCATE … RESTART IDENTITY` and inserts in one transaction. */
  restart(fill: (fresh: GrowingTable) => void): void {
    const fresh = new GrowingTable();
    fill(fresh);
    this.ids.splice(0, Infinity, ...fresh.ids);
    this.last = fresh.last;
  }

  /** The row that a mark may move to: a hundred others come after it, or half of all. */
  get place(): number {
    return this.ids.at(-1 - Math.min(100, Math.ceil(this.ids.length / 2)))!;
  }

  /** A source over the table, by `newest` or without it. */
  source({ newest = true }: { readonly newest?: boolean } = {}): BloomIdSource {
    const visible = () => {
      if (this.fails) throw new Error('The database is down.');
      return [...this.ids];
    };
    const { ids, idsSince } = {
      ids: async function* (this: GrowingTable) {
        this.scans++;
        yield visible();
      },
      idsSince: async function* (this: GrowingTable, mark: unknown) {
        this.readings++;
        yield visible().filter((id) => mark === undefined || id > Number(mark));
      },
    };
    return {
      ids: () => ids.call(this),
      idsSince: (mark) => idsSince.call(this, mark),
      idOrder: 'integer',
      ...(newest && { newest: async (others = 0) => visible().at(-1 - others) }),
    };
  }
}
