import { anyError, falsePositiveRate } from 'nestjs-bloom/internal';
import { chainOf, linkSize, nextLink, type RedisBloomTarget } from './redisbloom-size.js';

/** The chance that an absent id passes one of the links that a chain has when it holds `ids` ids. */
export function chainErrorRate(target: RedisBloomTarget, ids: number): number {
  const { first, nonScaling, expansion } = chainOf(target);
  const rates: number[] = [];
  let rest = nonScaling ? Math.min(ids, first.capacity) : ids;
  for (let link = first; rest > 0 && link.errorRate > 0; link = nextLink(link, expansion)) {
    const here = Math.min(rest, link.capacity);
    rates.push(falsePositiveRate({ ...linkSize(link), ids: here }));
    rest -= here;
  }
  return anyError(rates);
}
