import { BadRequestException, Body, ConflictException, Controller, Param, Post } from '@nestjs/common';
import { type FlashSaleEntry, FlashSaleEntryRepository } from './flash-sale-entry.repository.js';

const MAX_QUANTITY = 2;

@Controller('flash-sale/:saleId/entries')
export class FlashSaleController {
  constructor(private readonly entries: FlashSaleEntryRepository) {}

  @Post()
  async enter(@Param('saleId') saleId: string, @Body() body: unknown): Promise<FlashSaleEntry> {
    const newEntry = parseEntry(saleId, body);
    const entry = (await this.entries.find(newEntry)) === null && (await this.entries.create(newEntry));
    if (!entry) {
      throw new ConflictException(`Customer '${newEntry.customerId}' has taken part in '${saleId}' already.`);
    }
    return entry;
  }
}

function parseEntry(saleId: string, body: unknown): { saleId: string; customerId: string; quantity: number } {
  const { customerId, quantity = 1 } = Object(body) as Record<string, unknown>;
  for (const [name, value] of Object.entries({ saleId, customerId })) {
    if (typeof value !== 'string' || !/^[\w-]{1,40}$/.test(value)) {
      throw new BadRequestException(
        `Expected ${name} to be 1 to 40 letters, digits, hyphens or underscores.`,
      );
    }
  }
  if (!Number.isInteger(quantity) || Number(quantity) < 1 || Number(quantity) > MAX_QUANTITY) {
    throw new BadRequestException(`Expected quantity to be a whole number from 1 to ${MAX_QUANTITY}.`);
  }
  return { saleId, customerId: String(customerId), quantity: Number(quantity) };
}
