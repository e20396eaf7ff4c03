import type { ModelField } from './prisma-client.js';

/** An object of Prisma: arguments, data, a row. */
export type Fields = Readonly<Record<string, unknown>>;

/** Rows of a model that a write of another row writes too. */
export interface NestedRows {
  readonly created: readonly Fields[];
  readonly changed: readonly Fields[];
}

/**
 * The rows of `model` in the relations of what is written to a row of another model, or of the same one, however deep.
 *
 * @param fieldsOf the fields of a model, by its name.
 * @param data of the rows of the model `from`.
 */
export function nestedRows(
  fieldsOf: (model: string) => readonly ModelField[],
  model: string,
  { from, data }: { readonly from: string; readonly data: readonly Fields[] },
): NestedRows {
  const created: Fields[] = [];
  const changed: Fields[] = [];
  const look = (owner: string, rows: readonly Fields[]) => {
    const relations = fieldsOf(owner).filter(({ kind }) => kind === 'object');
    for (const row of rows) {
      for (const { name, type } of relations) {
        for (const write of listed(row[name])) {
          const made = createdBy(write);
          const updated = changedBy(write, fieldsOf(type));
          if (type === model) {
            created.push(...made);
            changed.push(...updated);
          }
          look(type, [...made, ...updated]);
        }
      }
    }
  };
  look(from, data);
  return { created, changed };
}

function createdBy({ create, createMany, connectOrCreate, upsert }: Fields): Fields[] {
  return [
    ...listed(create),
    ...listed(createMany).flatMap(({ data }) => listed(data)),
    ...[...listed(connectOrCreate), ...listed(upsert)].flatMap((one) => listed(one.create)),
  ];
}

function changedBy({ update, updateMany, upsert }: Fields, fields: readonly ModelField[]): Fields[] {
  // Of a relation to one row the data may stand alone.
  const isData = fields.some(({ name }) => name === 'data');
  return [
    ...listed(update).flatMap((one) => (one.data === undefined || isData ? [one] : listed(one.data))),
    ...listed(updateMany).flatMap(({ data }) => listed(data)),
    ...listed(upsert).flatMap((one) => listed(one.update)),
  ];
}

/** The objects of one or several. */
export function listed(value: unknown): Fields[] {
  return ([value].flat() as unknown[]).filter(
    (one): one is Fields => typeof one === 'object' && one !== null,
  );
}
