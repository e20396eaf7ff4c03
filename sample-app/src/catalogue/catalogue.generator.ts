import { seededRandom } from '../seeded-random.js';
import type { Catalogue } from './catalogue.js';
import type { Product } from './product.js';

const SEED = 20_101_201;
const FIRST_NUMBER = 100_000;
const FIRST_PRODUCT_AT = Date.UTC(2024, 0, 1);
const MINUTES_OF_A_YEAR = 365 * 24 * 60;

const COLOURS = ['Blue', 'Red', 'White', 'Green', 'Ivory', 'Pink', 'Black', 'Silver', 'Vintage', 'Pastel'];
const PATTERNS = [
  'Spotty',
  'Striped',
  'Floral',
  'Retro',
  'Plain',
  'Nordic',
  'Star',
  'Heart',
  'Skulls',
  'Paisley',
];
const ARTICLES = [
  { prefix: 'MUG-', name: 'Mug' },
  { prefix: 'CAN-', name: 'Candle Holder' },
  { prefix: 'BAG-', name: 'Lunch Bag' },
  { prefix: 'CLK-', name: 'Alarm Clock' },
  { prefix: 'TIN-', name: 'Cake Tin' },
  { prefix: 'LGT-', name: 'Fairy Lights' },
  { prefix: 'FRM-', name: 'Photo Frame' },
  // With a space, as shops have them.
  { prefix: 'GIFT BOX ', name: 'Gift Box' },
] as const;

/** A catalogue that is the same on every machine and every day. */
export function generateCatalogue(count: number): Catalogue {
  const random = seededRandom(SEED);
  const pick = <T>(choices: readonly T[]): T => choices[Math.floor(random() * choices.length)]!;
  const products = Array.from({ length: count }, (_, index): Product => {
    const article = pick(ARTICLES);
    const price = random();
    return {
      sku: `${article.prefix}${FIRST_NUMBER + index}`,
      description: `${pick(COLOURS)} ${pick(PATTERNS)} ${article.name}`,
      unitPrice: Math.floor(25 + 2_000 * price * price * price) / 100,
      createdAt: new Date(FIRST_PRODUCT_AT + Math.floor(random() * MINUTES_OF_A_YEAR) * 60_000),
    };
  });
  return { source: 'generated', products };
}
