import { BadRequestException, Body, ConflictException, Controller, Post } from '@nestjs/common';
import { type Customer, CustomerRepository } from './customer.repository.js';
import { parsePhoneNumber } from './phone-number.js';

@Controller('customers')
export class CustomersController {
  constructor(private readonly customers: CustomerRepository) {}

  @Post()
  async signUp(@Body() body: unknown): Promise<Customer> {
    const newCustomer = parseSignUp(body);
    const customer =
      (await this.customers.findByPhone(newCustomer.phone)) === null &&
      (await this.customers.create(newCustomer));
    if (!customer)
      throw new ConflictException(`A customer with the phone number +${newCustomer.phone} is registered.`);
    return customer;
  }
}

function parseSignUp(body: unknown): { phone: string; name: string } {
  const { phone, name } = Object(body) as Record<string, unknown>;
  const number = typeof phone === 'string' ? parsePhoneNumber(phone) : undefined;
  if (number === undefined) {
    throw new BadRequestException(
      'Expected phone to be a number with its country code, such as +44 20 7946 0018.',
    );
  }
  if (typeof name !== 'string' || !/^\P{C}{1,100}$/u.test(name)) {
    throw new BadRequestException('Expected name to be a text of 1 to 100 characters.');
  }
  return { phone: number, name };
}
