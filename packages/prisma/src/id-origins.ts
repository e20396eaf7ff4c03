import { BloomConfigError } from 'nestjs-bloom';
import type { MappedField } from './prisma-client.js';
import { modelBlock } from './schema-text.js';
import { databaseSetsDefault, notAPrismaClient } from './prisma.messages.js';

/** A field whose values are ids of a filter. */
export interface Origin {
  readonly model: string;
  readonly field: string;
}

/** A relation, seen from one of its two models, by which a foreign key takes over an id. */
export interface Link {
  readonly model: string;
  readonly relation: string;
  /** The foreign key, for people: `Book.authorSlug`. */
  readonly key: string;
  /**
   * The field that the key takes over, if rows of `model` have the key, and it is the field of the filter.
   */
  readonly reference: string | undefined;
}

export interface IdOrigins {
  /** The field of the filter first, then those whose values it takes over as a foreign key. */
  readonly origins: readonly Origin[];
  readonly links: readonly Link[];
}

/**
 * Where the ids of a filter come from: all that queries of Prisma can set or link.
 *
 * @throws {BloomConfigError} when the database may set an id that no query has, or the schema is not known.
 */
export function idOrigins({ modelName, field, schemaText = '', fieldsOf }: MappedField): IdOrigins {
  const origins: Origin[] = [{ model: modelName, field }];
  const links: Link[] = [];
  // The list grows while it is followed.
  for (const { model, field: referring } of origins) {
    for (const { relation, parent, fields, references, setsDefault } of foreignKeysOf(schemaText, model)) {
      const reference = references[fields.indexOf(referring)];
      if (reference === undefined) continue;
      const key = `${model}.${referring}`;
      if (setsDefault) throw new BloomConfigError(databaseSetsDefault(`${model}.${relation}`, key));
      const { relationName } = fieldsOf(model).find(({ name }) => name === relation) ?? {};
      const back = fieldsOf(parent).find(
        (one) =>
          one.relationName === relationName &&
          one.type === model &&
          (parent !== model || one.name !== relation),
      );
      const isOwn = origins[0]!.model === model && origins[0]!.field === referring;
      links.push({ model, relation, key, reference: isOwn ? reference : undefined });
      if (back) links.push({ model: parent, relation: back.name, key, reference: undefined });
      if (!origins.some((one) => one.model === parent && one.field === reference)) {
        origins.push({ model: parent, field: reference });
      }
    }
  }
  return { origins, links };
}

interface ForeignKey {
  readonly relation: string;
  readonly parent: string;
  readonly fields: readonly string[];
  /** Fields of the parent, in the order of `fields`. */
  readonly references: readonly string[];
  readonly setsDefault: boolean;
}

const RELATION = /^[ \t]*(\w+)\s+(\w+)[^\n]*?@relation\s*\(([^)]*)\)/gm;

/** The foreign keys of a model. */
function foreignKeysOf(schema: string, model: string): ForeignKey[] {
  const block = modelBlock(schema, model);
  if (block === undefined) throw new BloomConfigError(notAPrismaClient('extendWithBloom'));
  return [...block.matchAll(RELATION)].map(([, relation, parent, args = '']) => ({
    relation: relation!,
    parent: parent!,
    fields: namesIn(args, 'fields'),
    references: namesIn(args, 'references'),
    setsDefault: args.includes('SetDefault'),
  }));
}

function namesIn(args: string, argument: string): string[] {
  const list = new RegExp(`\\b${argument}\\s*:\\s*\\[([^\\]]*)\\]`).exec(args)?.[1];
  return list?.match(/\w+/g) ?? [];
}
