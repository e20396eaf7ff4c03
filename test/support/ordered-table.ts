import type { BloomIdSource } from 'nestjs-bloom';

export const YEAR_MS = 366 * 86_400_000;
const START_MS = Date.now() - 3_600_000;

export type Id = number | bigint | string;

/** A table whose ids are given out in order, and into which somebody writes ids of its own. */
export class Table {
  readonly ids: Id[] = [];
  scans = 0;
  private last = 0;

  constructor(
    private readonly idOf: (number: number) => Id,
    rows: number,
    private readonly ignoresOthers = false,
  ) {
    for (let i = 0; i < rows; i++) this.insert();
  }

  insert(): Id {
    return this.write(this.idOf(++this.last));
  }

  write(id: Id): Id {
    this.ids.push(id);
    this.ids.sort((a, b) => (a < b ? -1 : 1));
    return id;
  }

  /** As `setval` of a sequence. */
  jump(to: number): void {
    this.last = to;
  }

  source(): BloomIdSource {
    const { ids, ignoresOthers, idOf } = this;
    const count = () => this.scans++;
    return {
      async *ids() {
        count();
        yield [...ids];
      },
      async *idsSince(mark) {
        yield ids.filter((id) => mark === undefined || id > (mark as Id));
      },
      newest: async (others = 0) => ids.at(-1 - (ignoresOthers ? 0 : others)),
      idOrder: typeof idOf(1) === 'string' ? 'text' : 'integer',
    };
  }
}

const hex = (value: number, digits: number) => value.toString(16).padStart(digits, '0');
export const uuid7 = (ms: number, number = 0) => {
  const time = hex(ms, 12);
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-${hex(number, 12)}`;
};
const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const ulid = (ms: number, number = 0) => {
  const digits = (value: number, length: number) =>
    Array.from({ length }, (_, i) => CROCKFORD[Math.floor(value / 32 ** (length - 1 - i)) % 32]).join('');
  return digits(ms, 10) + digits(number, 16);
};

/** Ids of one kind in their order, and some that are far ahead. */
export interface Kind {
  readonly name: string;
  readonly idOf: (number: number) => Id;
  readonly far: readonly Id[];
  /** How many of those are of a time that is yet to come, so that they do not count. */
  readonly ofFuture?: number;
}

export const KINDS: readonly Kind[] = [
  { name: 'integers', idOf: Number, far: [2_147_483_647, 9e15] },
  { name: 'integers with steps of 1,000', idOf: (n) => 1000 * n, far: [2_147_483_647] },
  { name: 'integers beyond 2^53', idOf: (n) => 2n ** 61n + BigInt(n), far: [2n ** 63n - 1n] },
  {
    name: 'UUIDs of version 7',
    idOf: (n) => uuid7(START_MS + n, n),
    far: [uuid7(Date.now() + YEAR_MS), 'ffffffff-ffff-ffff-ffff-ffffffffffff'],
    ofFuture: 1,
  },
  { name: 'ULIDs', idOf: (n) => ulid(START_MS + n, n), far: [ulid(Date.now() + YEAR_MS)], ofFuture: 1 },
  {
    name: 'ObjectIds',
    idOf: (n) => hex(START_MS / 1000, 8) + hex(n, 16),
    far: [hex(Math.floor((Date.now() + YEAR_MS) / 1000), 8) + hex(0, 16)],
    ofFuture: 1,
  },
];
