import type { ModelField } from './prisma-client.js';

/** An object of Prisma: arguments, data, a row. */
export type Fields = Readonly<Record<string, unknown>>;

/** A row that a write creates or changes. */
export interface WrittenRow {
  readonly model: string;
  /** What is set in it. */
  readonly data: Fields;
  readonly isNew: boolean;
  /** It is written in a relation of another row, so the result of the write need not have it. */
  readonly isNested: boolean;
}

/** What Prisma gives to extensions of a query. */
export interface Operation {
  readonly model: string;
  readonly operation: string;
  readonly args?: Fields;
  readonly query: (args: Fields) => Promise<unknown>;
  /** No API of Prisma says in what transaction a query is, or which relation of the row it returns. */
  readonly __internalParams?: {
    readonly transaction?: { readonly kind: string };
    readonly dataPath?: readonly string[];
  };
}

/** A write, as Prisma gives it to extensions. */
export interface Write {
  readonly model: string;
  readonly operation: string;
  readonly args: Fields;
}

/**
 * The rows that an operation writes: those of its own model, and those in their relations, however deep.
 *
 * @param fieldsOf the fields of a model, by its name.
 */
export function writtenRows(
  fieldsOf: (model: string) => readonly ModelField[],
  { model, operation, args }: Write,
): WrittenRow[] {
  const rows: WrittenRow[] = [];
  const note = (row: WrittenRow) => {
    rows.push(row);
    for (const { name, kind, type } of fieldsOf(row.model)) {
      for (const write of kind === 'object' ? listed(row.data[name]) : []) {
        for (const data of createdBy(write)) note({ model: type, data, isNew: true, isNested: true });
        for (const data of changedBy(write)) note({ model: type, data, isNew: false, isNested: true });
      }
    }
  };
  const own = (isNew: boolean, data: unknown) =>
    listed(data).forEach((one) => note({ model, data: one, isNew, isNested: false }));
  const { data, create, update } = args;
  if (operation === 'upsert') {
    own(true, create);
    own(false, update);
  } else {
    // A row whose fields all have defaults needs no data.
    own(!operation.startsWith('update'), operation === 'create' ? (data ?? {}) : data);
  }
  return rows;
}

/** Nested writes by which a row begins to refer to another one. */
const LINKS = ['create', 'createMany', 'connect', 'connectOrCreate', 'set', 'upsert'];

/** Whether the data of a row make it, by a relation, refer to another row, or another row refer to it. */
export function isLinking(relation: unknown): boolean {
  return listed(relation).some((write) => LINKS.some((name) => listed(write[name]).length > 0));
}

/** The rows that a relation makes a row refer to: by how they are found, or by what is set in them. */
export function linkedRows(relation: unknown): Fields[] {
  return listed(relation).flatMap((write) => [
    ...listed(write.connect),
    ...listed(write.connectOrCreate).flatMap(({ where }) => listed(where)),
    ...createdBy(write),
  ]);
}

function createdBy({ create, createMany, connectOrCreate, upsert }: Fields): Fields[] {
  return [
    ...listed(create),
    ...listed(createMany).flatMap(({ data }) => listed(data)),
    ...[...listed(connectOrCreate), ...listed(upsert)].flatMap((one) => listed(one.create)),
  ];
}

function changedBy({ update, updateMany, upsert }: Fields): Fields[] {
  return [
    // In a relation to one row the data may stand alone. A model may have a field with the name `data`.
    ...listed(update).flatMap((one) => [one, ...listed(one.data)]),
    ...listed(updateMany).flatMap(({ data }) => listed(data)),
    ...listed(upsert).flatMap((one) => listed(one.update)),
  ];
}

/** The objects of one or several. */
function listed(value: unknown): Fields[] {
  return ([value].flat() as unknown[]).filter(
    (one): one is Fields => typeof one === 'object' && one !== null,
  );
}
