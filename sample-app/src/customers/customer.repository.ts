import { Injectable } from '@nestjs/common';
import { eq } from 'drizzle-orm';
import { BloomGuarded, BloomRegisters } from 'nestjs-bloom';
import { Database } from '../database/database.js';
import { customers } from '../database/schema.js';
import type { PhoneNumber } from './phone-number.js';

export interface Customer {
  readonly phone: PhoneNumber;
  readonly name: string;
  readonly signedUpAt: Date;
}

@Injectable()
export class CustomerRepository {
  constructor(private readonly database: Database) {}

  /** The filter of phone numbers spares almost every new customer this query. */
  @BloomGuarded('phones')
  async findByPhone(phone: PhoneNumber): Promise<Customer | null> {
    const [customer] = await this.database.orm
      .select()
      .from(customers)
      .where(eq(customers.phone, phone))
      .limit(1);
    return customer ?? null;
  }

  /** @returns null when somebody signed up with this number in the meantime. */
  @BloomRegisters('phones', { id: 'phone' })
  async create(customer: { phone: PhoneNumber; name: string }): Promise<Customer | null> {
    const [created] = await this.database.orm
      .insert(customers)
      .values(customer)
      .onConflictDoNothing()
      .returning();
    return created ?? null;
  }
}
