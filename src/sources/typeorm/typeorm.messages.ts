export const entityNotRead = (maker: string, name: string, why: string) =>
  `${maker}: the entity ${name} cannot be read: ${why}.`;

export const noOrderOnThis = (type: string) =>
  `fromTypeOrm: expected a database with LIMIT for the option order, such as Postgres, MySQL or SQLite, got ${type}. Write idsSince yourself.`;
