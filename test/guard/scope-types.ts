import { BloomGuarded, BloomGuardedMany, BloomRegisters } from '../../src/index.js';

interface Order {
  readonly no: number;
  readonly tenant: string;
}

/** Never run: `npm run typecheck` fails when a line below an expectation compiles, or another does not. */
export abstract class Scopes {
  @BloomGuarded('orders', { id: (_tenant: string, no: number) => no, scope: (tenant: string) => tenant })
  async find(_tenant: string, _no: number): Promise<void> {}

  @BloomGuarded('orders', { id: 'no', scope: 'tenant' })
  async findBy(_order: Order): Promise<void> {}

  @BloomGuarded('orders', { param: 'no', scope: 'tenant' })
  async ofRoute(_no: string): Promise<void> {}

  @BloomGuardedMany('orders', { scope: (_nos: number[], tenant: string) => tenant })
  async findMany(_nos: number[], _tenant: string): Promise<Order[]> {
    return [];
  }

  @BloomRegisters('orders', { from: 'result', id: 'no', scope: (made: Order) => made.tenant })
  async create(): Promise<Order> {
    return { no: 1, tenant: 'a' };
  }

  // @ts-expect-error There is no such argument.
  @BloomGuarded('orders', { scope: (_no: string, tenant: string) => tenant })
  async findAlone(_no: string): Promise<void> {}

  // @ts-expect-error A scope is a text or a number.
  @BloomGuarded('orders', { scope: (_no: string, tenant: Date) => tenant })
  async findWithDate(_no: string, _tenant: Date): Promise<void> {}

  // @ts-expect-error There is no such property.
  @BloomGuarded('orders', { id: 'no', scope: 'tenants' })
  async misspelt(_order: Order): Promise<void> {}

  // @ts-expect-error A promise would not be awaited.
  @BloomGuarded('orders', { scope: async () => 'a' })
  async later(_no: string): Promise<void> {}

  // @ts-expect-error
  @BloomGuardedMany('orders', { scope: (_nos: number[], tenant: number) => tenant })
  async manyOfText(_nos: number[], _tenant: string): Promise<Order[]> {
    return [];
  }

  // @ts-expect-error
  @BloomRegisters('orders', { id: 'no', scope: (_order: Order, tenant: string) => tenant })
  async register(_order: Order): Promise<void> {}
}
