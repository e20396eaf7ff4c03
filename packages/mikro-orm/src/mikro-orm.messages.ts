export const platformNotRead = (constructorName: string) =>
  `fromMikroOrm: a database of ${constructorName} is not read by it. Use fromPages of nestjs-bloom.`;

export const entityNotKnown = (name: string) =>
  `fromMikroOrm: the entity ${name} cannot be read: its MikroORM does not know it. Add it to the \`entities\` of the MikroORM, or name ` +
  'another one by the option orm.';
