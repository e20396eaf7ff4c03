import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AttackReading } from '../../../src/service/attack-rule.js';
import { Random, SEED } from '../../support/random.js';

const SAMPLE_MS = 250;
const SAMPLES_OF_A_MINUTE = 240;
const MINUTES_OF_A_DAY = 1440;
const DAY_MS = 86_400_000;

/** Order lines of each minute in which there were some. */
export type OrderMinutes = ReadonlyMap<number, number>;

/**
 * How many order lines a real shop had in each minute of four days, one of them with its fullest minute
 * (1,114 lines) and one its fullest day: counted from "Online Retail", D. Chen, S. L. Sain and K. Guo, 2012,
 * doi 10.1057/dbm.2012.17, CC BY 4.0.
 */
export const RECORDED_DAYS: ReadonlyMap<string, OrderMinutes> = new Map(
  Object.entries(
    JSON.parse(readFileSync(join(import.meta.dirname, 'order-minutes.json'), 'utf8')) as Record<
      string,
      string
    >,
  ).map(([day, minutes]) => [
    day,
    new Map(minutes.split(' ').map((one) => one.split(':').map(Number) as [number, number])),
  ]),
);

export const DAYS = [...RECORDED_DAYS.values()];

export interface Flood {
  /** Since the beginning of the first day. */
  readonly fromMs: number;
  readonly forMs: number;
  readonly perSecond: number;
  /** All of a time at once, this often. Default: evenly. */
  readonly everyMs?: number;
}

export interface Traffic {
  readonly days: readonly OrderMinutes[];
  /** How many shops of this size. Default 1. */
  readonly shops?: number;
  /** Lookups of ids that nobody has. */
  readonly unknownShare: number;
  /** Whether the lines of a minute come within one second, as one order. Default: over the whole minute. */
  readonly isAtOnce?: boolean;
  /** Absents a second that come with nothing else, at all times. Default 0. */
  readonly crawlerPerSecond?: number;
  readonly floods?: readonly Flood[];
  /** Since the beginning of the first day. Default 0. */
  readonly startMs?: number;
  readonly endMs?: number;
}

/** What the counters of a filter show over such days, read every quarter of a second. */
export function* readings(traffic: Traffic): Generator<AttackReading> {
  const { days, shops = 1, unknownShare, isAtOnce = false, crawlerPerSecond = 0, floods = [] } = traffic;
  const { startMs = 0, endMs = days.length * DAY_MS } = traffic;
  const random = new Random(SEED);
  const chance = () => random.uint32() / 2 ** 32;
  const about = (count: number) => Math.floor(count) + (chance() < count % 1 ? 1 : 0);
  let [absents, lookups, flooded] = [0, 0, 0];
  let atOnce = 0;
  for (let ms = startMs; ms < endMs; ms += SAMPLE_MS) {
    const minute = Math.floor(ms / 60_000);
    const sample = Math.floor(ms / SAMPLE_MS) % SAMPLES_OF_A_MINUTE;
    if (sample === 0) atOnce = random.below(SAMPLES_OF_A_MINUTE - 4);
    const day = days[Math.floor(minute / MINUTES_OF_A_DAY) % days.length]!;
    const lines = (day.get(minute % MINUTES_OF_A_DAY) ?? 0) * shops;
    const isNow = sample >= atOnce && sample < atOnce + 4;
    const asked = isAtOnce ? (isNow ? about(lines / 4) : 0) : spread(lines, random);
    let unknown = 0;
    if (asked > 0)
      unknown = asked > 200 ? noisy(asked * unknownShare, chance) : several(asked, unknownShare, chance);
    const crawled = crawlerPerSecond > 0 ? about((crawlerPerSecond * SAMPLE_MS) / 1000) : 0;
    let flood = 0;
    for (const one of floods) flood += floodOf(one, ms);
    lookups += asked + crawled + flood;
    absents += unknown + crawled + flood;
    flooded += flood;
    yield {
      now: ms + SAMPLE_MS,
      absents,
      lookups,
      methods: new Map([
        ['Shop.find', absents - flooded],
        ['Shop.search', flooded],
      ]),
    };
  }
}

function floodOf({ fromMs, forMs, perSecond, everyMs = 0 }: Flood, ms: number): number {
  const at = ms - fromMs;
  if (at + SAMPLE_MS <= 0 || at >= forMs) return 0;
  if (everyMs > 0) {
    const isDue = Math.floor((at + SAMPLE_MS - 1) / everyMs) > Math.floor((at - 1) / everyMs);
    return isDue ? (perSecond * everyMs) / 1000 : 0;
  }
  const share = at < 0 ? (at + SAMPLE_MS) / SAMPLE_MS : 1;
  return Math.round((perSecond * share * SAMPLE_MS) / 1000);
}

/** Lines of one sample within a minute: as they come when each chooses its moment. */
function spread(lines: number, random: Random): number {
  if (lines === 0) return 0;
  const mean = lines / SAMPLES_OF_A_MINUTE;
  return mean > 50 ? noisy(mean, () => random.uint32() / 2 ** 32) : poisson(mean, random);
}

function poisson(mean: number, random: Random): number {
  const end = Math.exp(-mean);
  let product = random.uint32() / 2 ** 32;
  let count = 0;
  while (product > end) {
    count++;
    product *= random.uint32() / 2 ** 32;
  }
  return count;
}

function noisy(mean: number, chance: () => number): number {
  const normal = Math.sqrt(-2 * Math.log(1 - chance())) * Math.cos(2 * Math.PI * chance());
  return Math.max(0, Math.round(mean + Math.sqrt(mean) * normal));
}

function several(count: number, share: number, chance: () => number): number {
  let found = 0;
  for (let i = 0; i < count; i++) if (chance() < share) found++;
  return found;
}
