import { type DynamicModule, Module } from '@nestjs/common';
import { BloomModule } from 'nestjs-bloom';
import { FlashSaleController } from './flash-sale.controller.js';
import { FlashSaleEntryRepository } from './flash-sale-entry.repository.js';

@Module({})
export class FlashSaleModule {
  static forRoot({ audit }: { audit?: false }): DynamicModule {
    return {
      module: FlashSaleModule,
      // No source: only this shop writes entries, and each is registered as it is written.
      imports: [
        BloomModule.forFeature([
          { name: 'flash-sale-entries', capacity: 1_000_000, audit, create: 'first-start' },
        ]),
      ],
      controllers: [FlashSaleController],
      providers: [FlashSaleEntryRepository],
    };
  }
}
