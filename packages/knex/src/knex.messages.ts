export const dialectNotRead = (dialect: string) =>
  `fromKnex: ${dialect}, whose queries have no LIMIT, is not read by it. Use fromPages of nestjs-bloom.`;
