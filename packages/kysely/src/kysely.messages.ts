import { printed } from 'nestjs-bloom/sources';

export const notTableAndColumn = (path: string) => `fromKysely: expected 'table.column', got '${path}'.`;

export const dialectNotRead = (parameter: string) =>
  `fromKysely: expected a database whose parameters are written $1 or ?, got ${printed(parameter)}, as SQL Server writes them, whose queries have no LIMIT. Use fromPages of nestjs-bloom.`;
