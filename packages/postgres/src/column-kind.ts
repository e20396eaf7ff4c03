/** How the values of the column are read. */
export type ColumnKind = 'integer' | 'uuid' | 'text' | 'bytes';
