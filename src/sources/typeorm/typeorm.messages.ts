export const entityNotRead = (maker: string, name: string, why: string) =>
  `${maker}: the entity ${name} cannot be read: ${why}.`;
