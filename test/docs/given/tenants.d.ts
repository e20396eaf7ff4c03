// What docs/tenants.md leaves out.
declare const Injectable: typeof import('@nestjs/common').Injectable;
declare class Order {
  readonly tenantId: string;
  readonly no: number;
}
declare class NewOrder {
  readonly tenantId: string;
  readonly no: number;
}
