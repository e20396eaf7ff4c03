import { BadRequestException } from '@nestjs/common';

export interface Product {
  /** Case-sensitive; may hold spaces. */
  readonly sku: string;
  readonly description: string;
  readonly unitPrice: number;
  readonly createdAt: Date;
}

const MAX_SKU_LENGTH = 64;
const MAX_DESCRIPTION_LENGTH = 500;
const MAX_UNIT_PRICE = 9_999_999_999.99;

export const SKU_EXPECTED = `1 to ${MAX_SKU_LENGTH} characters, no control characters`;

export function isSku(value: unknown): value is string {
  return typeof value === 'string' && value.length <= MAX_SKU_LENGTH && /^\P{C}+$/u.test(value);
}

/** @throws {BadRequestException} naming the field and what was expected. */
export function parseNewProduct(body: unknown): Product {
  const { sku, description, unitPrice } = Object(body) as Record<string, unknown>;
  if (!isSku(sku)) throw new BadRequestException(`Expected sku to be ${SKU_EXPECTED}.`);
  if (typeof description !== 'string' || !isDescription(description)) {
    throw new BadRequestException(
      `Expected description to be a text of at most ${MAX_DESCRIPTION_LENGTH} characters.`,
    );
  }
  if (typeof unitPrice !== 'number' || !(unitPrice >= 0 && unitPrice <= MAX_UNIT_PRICE)) {
    throw new BadRequestException('Expected unitPrice to be a number that is not negative.');
  }
  return { sku, description, unitPrice, createdAt: new Date() };
}

/** Postgres text holds anything but NUL. */
export function isDescription(text: string): boolean {
  return text.length <= MAX_DESCRIPTION_LENGTH && !text.includes('\0');
}
