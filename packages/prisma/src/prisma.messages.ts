export const idNotKnown = (filter: string, field: string, why: string, instead: string) =>
  `extendWithBloom cannot record the id of a row in filter '${filter}': ${field} is not known, since ${why}. Instead ${instead}, ` +
  'or write with the client that is not extended and call filter.add(id).';

export const databaseSetsDefault = (relation: string, key: string) =>
  `extendWithBloom: expected the relation ${relation} to have other referential actions than SetDefault, by which the database writes a value of ` +
  `${key} that no query has. Choose another action, or record the ids by @BloomRegisters or filter.add(id).`;

export const providerNotRead = (provider: string) =>
  `fromPrisma: ${provider} is not read by it. Use fromPages of nestjs-bloom.`;

export const notAPrismaClient = (maker: string) =>
  `${maker}: expected a client that Prisma 7 has generated, and a function that returns one of its models such as (prisma) => ` +
  'prisma.product.';

export const noSuchField = (maker: string, modelName: string, field: string, names: string) =>
  `${maker}: expected a field of the model ${modelName}, got '${field}'. Its fields are ${names}.`;
