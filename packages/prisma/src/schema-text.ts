import type { BloomIdKind } from 'nestjs-bloom';

const STRINGS_AND_COMMENTS = /"(?:\\.|[^"\\])*"|\/\/[^\n]*|\/\*[^]*?\*\//g;

/** What stands in the block of a model. Nothing else that a client has says as much. */
export function modelBlock(schema: string, model: string): string | undefined {
  const text = schema.replace(STRINGS_AND_COMMENTS, (found) => (found.startsWith('"') ? '""' : ''));
  return new RegExp(`^\\s*(?:model|view)\\s+${model}\\s*\\{([^}]*)\\}`, 'm').exec(text)?.[1];
}

/** The fields of the primary key; none where the schema names none. */
export function primaryKeyOf(block: string): string[] {
  const [, single] = /^[ \t]*(\w+)[ \t][^\n]*[^@\n]@id\b/m.exec(block) ?? [];
  if (single !== undefined) return [single];
  const [, several = ''] = /^[ \t]*@@id\s*\(\s*(?:fields\s*:\s*)?\[([^\]]*)\]/m.exec(block) ?? [];
  return several.match(/\w+/g) ?? [];
}

/** How Prisma makes the ids of a field, where that is an order; `char` and `citext` have another. */
export function kindOf(block: string, field: string): BloomIdKind | undefined {
  const [line = ''] = new RegExp(`^[ \\t]*${field}[ \\t][^\\n]*`, 'm').exec(block) ?? [];
  if (/@db\.(?!Uuid\b|Text\b|VarChar\b)/.test(line)) return undefined;
  if (/@default\s*\(\s*uuid\s*\(\s*7\s*\)\s*\)/.test(line)) return 'uuidv7';
  return /@default\s*\(\s*ulid\s*\(\s*\)\s*\)/.test(line) && !line.includes('@db.Uuid') ? 'ulid' : undefined;
}
