import { type DynamicModule, Module } from '@nestjs/common';
import { type BloomId, BloomModule, type BloomRebuildSchedule } from 'nestjs-bloom';
import { ColumnIdSource } from '../database/column-id-source.js';
import { Database } from '../database/database.js';
import { customers } from '../database/schema.js';
import { CustomerRepository } from './customer.repository.js';
import { CustomersController } from './customers.controller.js';
import { normalizePhoneNumber } from './phone-number.js';

@Module({})
export class CustomersModule {
  static forRoot({ rebuild, audit }: { rebuild?: BloomRebuildSchedule; audit?: false }): DynamicModule {
    return {
      module: CustomersModule,
      imports: [
        BloomModule.forFeatureAsync([
          {
            name: 'phones',
            inject: [Database],
            useFactory: (database: Database) => ({
              capacity: 100_000,
              normalize: (phone: BloomId) => normalizePhoneNumber(String(phone)),
              source: new ColumnIdSource(database, customers.phone),
              // A new shop has no customers yet.
              rebuild: { ...rebuild, minRatio: 0 },
              audit,
            }),
          },
        ]),
      ],
      controllers: [CustomersController],
      providers: [CustomerRepository],
    };
  }
}
