import { Injectable, type ModuleMetadata } from '@nestjs/common';
import { BloomGuarded, BloomModule, type BloomModuleOptions } from 'nestjs-bloom';

export const SKUS = Array.from({ length: 50 }, (_, i) => `sku-${i}`);

export const products = {
  name: 'products',
  capacity: 1000,
  errorRate: 0.001,
  source: {
    async *ids() {
      yield SKUS;
    },
  },
  rebuild: { onBoot: 'never', drainMs: 0 },
  audit: false,
} as const;

@Injectable()
export class Products {
  reads = 0;

  @BloomGuarded('products', { onAbsent: 'null' })
  async find(sku: string): Promise<{ sku: string } | null> {
    this.reads++;
    return SKUS.includes(sku) ? { sku } : null;
  }
}

/** An application with one filter and one guarded method. */
export function shop(
  options: BloomModuleOptions = {},
): Required<Pick<ModuleMetadata, 'imports' | 'providers'>> {
  return { imports: [BloomModule.forRoot({ filters: [products], ...options })], providers: [Products] };
}
