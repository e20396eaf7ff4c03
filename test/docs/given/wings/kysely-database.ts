export const KYSELY = Symbol('KYSELY');

export interface Database {
  readonly products: { readonly sku: string };
}
