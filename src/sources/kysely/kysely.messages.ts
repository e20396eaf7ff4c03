export const notTableAndColumn = (path: string) => `fromKysely: expected 'table.column', got '${path}'.`;

export const SQL_SERVER_NOT_READ =
  'fromKysely: SQL Server, whose queries have no LIMIT, is not read by it. Use fromPages of nestjs-bloom.';
