import { BloomConfigError, type BloomId } from 'nestjs-bloom';
import type { IdOrigins, Link, Origin } from './id-origins.js';
import { idNotKnown } from './prisma.messages.js';
import { type Fields, isLinking, linkedRows, type WrittenRow } from './written-rows.js';

/** Operations that return the rows which they have written. */
export const RETURN_ROWS = ['create', 'createManyAndReturn', 'update', 'updateManyAndReturn', 'upsert'];

/** What the arguments of a write say of the ids that it writes. */
export interface SeenIds {
  readonly ids: readonly BloomId[];
  /** The rows that the write returns have ids. */
  readonly isInResult: boolean;
  /** Only these rows have all of them: the database makes some, or they are keys of other rows. */
  readonly isOnlyInResult: boolean;
}

/** Finds the ids of a filter in the rows that writes set. */
export class IdReader {
  constructor(
    private readonly filter: string,
    private readonly from: IdOrigins,
  ) {}

  /** @throws {BloomConfigError} for an id that neither the rows nor the result of the operation has. */
  read(operation: string, rows: readonly WrittenRow[]): SeenIds {
    const [own] = this.from.origins;
    const returnsRows = RETURN_ROWS.includes(operation);
    const ids: BloomId[] = [];
    let isInResult = false;
    // The row of an upsert may keep an id that its arguments do not have.
    let isOnlyInResult = operation === 'upsert';
    for (const row of rows) {
      for (const link of this.from.links.filter(({ model }) => model === row.model)) {
        if (!isLinking(row.data[link.relation])) continue;
        ids.push(...this.linkedIds(row, link));
        [isInResult, isOnlyInResult] = [true, true];
      }
      for (const origin of this.from.origins.filter(({ model }) => model === row.model)) {
        const id = this.idIn(row.data, origin);
        // A key that is new has no rows that refer to it, but by links.
        if (isId(id) && (origin === own || !row.isNew)) ids.push(id);
        if (origin !== own || (id === undefined && !row.isNew)) continue;
        if (id === undefined && (row.isNested || !returnsRows)) {
          const instead = row.isNested ? 'give the value itself' : `use ${operation}AndReturn`;
          throw this.unseen(nameOf(origin), 'the database makes it', instead);
        }
        isInResult ||= returnsRows && !row.isNested;
        isOnlyInResult ||= id === undefined;
      }
    }
    return { ids, isInResult, isOnlyInResult };
  }

  /** @throws {BloomConfigError} for a row without the field. Its id may be null. */
  idsReturned(values: readonly unknown[]): BloomId[] {
    if (values.includes(undefined)) {
      const why = 'an extension that was applied later takes it out of the result';
      throw this.unseen(nameOf(this.from.origins[0]!), why, 'apply extendWithBloom last');
    }
    return values.filter((value) => value !== null) as BloomId[];
  }

  /** The ids that a row takes over, as far as the arguments have them. */
  private linkedIds({ model, data, isNested }: WrittenRow, { relation, key, reference }: Link): BloomId[] {
    if (isNested || reference === undefined) {
      const instead = `set ${key} itself in a write of its model`;
      throw this.unseen(key, `it comes from the relation ${model}.${relation}`, instead);
    }
    return linkedRows(data[relation])
      .map((row) => row[reference])
      .filter(isId);
  }

  /** Undefined where the row does not set it. */
  private idIn(data: Fields, origin: Origin): unknown {
    const value = data[origin.field];
    if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return value;
    if ('set' in value) return value.set;
    throw this.unseen(nameOf(origin), 'it is computed by the database', 'set the value itself');
  }

  private unseen(field: string, why: string, instead: string): BloomConfigError {
    return new BloomConfigError(idNotKnown(this.filter, field, why, instead));
  }
}

function nameOf({ model, field }: Origin): string {
  return `${model}.${field}`;
}

/** Conditions of a query are objects. */
export function isId(value: unknown): value is BloomId {
  return value !== undefined && (typeof value !== 'object' || value instanceof Uint8Array);
}
