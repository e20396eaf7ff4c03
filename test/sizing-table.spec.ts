import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { BloomConfigError, planFilter } from '../src/filter/index.js';
import {
  cuckoo,
  goZero,
  guava,
  LAYOUT_NUMBERS,
  type LayoutKind,
  redisBloom,
  redisson,
} from '@nestjs-bloom/interop';

const page = readFileSync(fileURLToPath(new URL('../docs/interop.md', import.meta.url)), 'utf8');
const CAPACITY = 1_000_000;
const ERROR_RATES = [0.01, 0.001, 0.0001];
const HEADER = ['layout', '1 %', '0.1 %', '0.01 %'];

const PLANNERS = {
  blocked: { plan: planFilter },
  'go-zero': goZero,
  guava,
  redisson,
  redisbloom: redisBloom,
  cuckoo,
} satisfies Record<LayoutKind, unknown>;

/** Bits per id, hash count and size, as the table says them; a dash where the layout cannot be so exact. */
function cell(layout: LayoutKind, errorRate: number): string {
  try {
    const { bitsPerId, hashCount, bytes } = PLANNERS[layout].plan({ capacity: CAPACITY, errorRate });
    return `${bitsPerId.toFixed(2)} (${hashCount}), ${(bytes / 2 ** 20).toFixed(2)} MiB`;
  } catch (error) {
    if (error instanceof BloomConfigError) return '–';
    throw error;
  }
}

function rowsOfPage(): string[][] {
  const lines = page.split('\n');
  const rows = (from: number) => lines.slice(from, from + 40).map((line) => line.split('|').slice(1, -1));
  const cells = rows(lines.findIndex((line) => /^\| layout +\| 1 %/.test(line)));
  const end = cells.findIndex((row) => row.length === 0);
  return cells.slice(0, end).map((row) => row.map((text) => text.trim()));
}

describe('The sizes in the documents', () => {
  it('are those of the plans for 1,000,000 ids, of every layout', () => {
    const [header, , ...rows] = rowsOfPage();
    const kinds = Object.keys(LAYOUT_NUMBERS) as LayoutKind[];
    expect(header).toEqual(HEADER);
    expect(rows).toEqual(
      kinds.map((kind) => [`\`${kind}\``, ...ERROR_RATES.map((rate) => cell(kind, rate))]),
    );
  });
});
