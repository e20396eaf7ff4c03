import { plural } from 'nestjs-bloom/internal';
import { expectedErrorRate, type FilterPlan, type FilterTarget, planFilter } from 'nestjs-bloom/filter';
import { cuckoo, goZero, guava, type LayoutPlan, redisBloom, redisson } from '@nestjs-bloom/interop';
import { EXIT, usageError } from './cli-error.js';
import type { Terminal } from './terminal.js';
import { bytes, share } from './texts.js';
import { noSuchLayout, wrongNumber } from './cli.messages.js';

export interface PlanWords {
  readonly layout: string;
  readonly json?: boolean;
}

/**
 * The allocator rounds a string up by a quarter at most, and a third of that stays free for others; see
 * docs/operations.md.
 */
const ROUNDED_UP = 1.25;
const FREE_BESIDE = 1 / 3;
/** Beside the staged segments of layout `blocked`: a scratch segment, and what BITOP makes of one. */
const SCRATCH_BYTES = 2 * 2 ** 20;

interface Planner {
  plan(target: FilterTarget): FilterPlan | LayoutPlan;
  expectedErrorRate(plan: FilterPlan | LayoutPlan, ids: number): number;
}

/** By the word for the layout. */
const PLANNERS: Readonly<Record<string, Planner>> = {
  blocked: { plan: planFilter, expectedErrorRate },
  'go-zero': goZero,
  guava,
  redisson,
  redisbloom: redisBloom,
  cuckoo,
};

/** What a filter of so many ids takes. */
export function plan(
  terminal: Terminal,
  capacityText: string,
  errorRateText: string,
  { layout, json }: PlanWords,
): number {
  const planner = plannerOf(layout);
  const capacity = numberOf(capacityText, 'the number of ids, such as 1e6 or 1_000_000');
  const errorRate = numberOf(errorRateText, 'the error rate, such as 0.001 or 0.1%');
  const planned = planner.plan({ capacity, errorRate });
  const stagingBytes =
    planned.bytes + (layout === 'blocked' ? Math.min(2 * planned.bytes, SCRATCH_BYTES) : 0);
  const found = {
    layout,
    capacity,
    errorRate,
    modelledErrorRate: planned.modelledErrorRate,
    bytes: planned.bytes,
    bitsPerId: planned.bitsPerId,
    hashCount: planned.hashCount,
    /** Memory of Redis while a rebuild stages the next generation beside the live one. */
    rebuildBytes: planned.bytes + stagingBytes,
    /** What has to be free in Redis when a rebuild begins, under noeviction. */
    rebuildFreeBytes: Math.ceil(stagingBytes * ROUNDED_UP * (1 + FREE_BESIDE)),
    /** Memory of the process that rebuilds. */
    rebuildProcessBytes: planned.bytes,
  };
  if (json) {
    terminal.json(found);
    return EXIT.fine;
  }
  terminal.print(
    terminal.styled(
      'bold',
      `${plural(capacity, 'id')} at an error rate of ${share(errorRate)}, layout ${layout}`,
    ),
  );
  terminal.list([
    ['size', `${bytes(found.bytes)} (${plural(found.bytes, 'byte')})`],
    ['bits per id', found.bitsPerId.toFixed(2)],
    ['hash count', String(found.hashCount)],
    [
      'error rate',
      `${share(found.modelledErrorRate)} by the model at ${plural(capacity, 'id')}, ${share(planner.expectedErrorRate(planned, 2 * capacity))} at twice as many`,
    ],
    [
      'rebuild',
      `${bytes(found.rebuildBytes)} of Redis for both generations; ${bytes(found.rebuildProcessBytes)} of the process that rebuilds`,
    ],
    ['to keep free', `${bytes(found.rebuildFreeBytes)} of maxmemory when a rebuild begins, under noeviction`],
  ]);
  return EXIT.fine;
}

function plannerOf(layout: string): Planner {
  const planner = Object.hasOwn(PLANNERS, layout) ? PLANNERS[layout] : undefined;
  if (planner) return planner;
  throw usageError(noSuchLayout(Object.keys(PLANNERS).join(', '), layout));
}

export function numberOf(text: string, expected: string): number {
  const [, digits = '', percent] = /^(.*?)\s*(%?)$/.exec(text)!;
  const value = Number(digits.replaceAll(/[_,]/g, ''));
  if (digits.trim() === '' || !Number.isFinite(value)) throw usageError(wrongNumber(expected, text));
  return percent ? value / 100 : value;
}
