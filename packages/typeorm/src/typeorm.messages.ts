export const entityNotRead = (maker: string, name: string, why: string) =>
  `${maker}: the entity ${name} cannot be read: ${why}.`;

export const scopeWithoutKey = (maker: string, table: string) =>
  `${maker}: expected a key of ${table} with the option scope, got none: without one each id would be read once, for one tenant. Give the table and its entity a primary key.`;

export const noOrderOnThis = (type: string) =>
  `fromTypeOrm: expected a database with LIMIT for the options order and ids, such as Postgres, MySQL or SQLite, got ${type}. Write idsSince yourself.`;

export const notOnThis = (type: string) => `it is not known how ${type} makes ids`;

export const isAView = (maker: string, name: string) =>
  `${maker}: expected an entity of a table, got the view ${name}, through which no row is written. Provide it for the entity of the table.`;

export const idNotKnown = (maker: string, filter: string, column: string, why: string) =>
  `${maker} cannot record the id of a row in filter '${filter}': ${column} is not known, since ${why}. ` +
  'Give the value itself, or call filter.add(id) and write with callListeners(false).';
