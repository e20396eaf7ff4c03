/** Weight of the last day in what is usual at an hour: the smoothing of the seasonal part of Holt and Winters (Brutlag, LISA 2000). */
const DAY_WEIGHT = 0.3;
/** A day counts for at most so many times what was usual: who raises the rate by and by must take days for it. */
const MOST_GROWTH = 2;
/** An hour of which less was seen says nothing. */
const MINUTES_OF_AN_HOUR = 30;
/** What is left of a minute after another one, in the mean of the last minutes: half of it after 23. */
const MINUTE_DECAY = 0.97;
/** Absents for each lookup that is not absent: assumed at an hour that was not learned yet. */
const COLD_RATIO = 0.1;
/** Of fewer other lookups a second, 1,000 an hour, nobody can say how many absents come with them. */
const LEAST_PASSED = 1000 / 3600;
/** A site on which nobody mistypes an id is not alarmed by the first who do. */
const LEAST_RATIO = 0.01;
/** Of a surge of lookups, more absents than that are no part. */
const MOST_RATIO = 0.25;

/** Lookups a second: those that were absent, and the others. */
export interface LookupRates {
  readonly absent: number;
  readonly passed: number;
}

/**
 * What rate of absents is usual at an hour of the day (UTC), learned minute by minute. No clock: the caller says which hour it is.
 *
 * For each hour the mean of its minutes, smoothed over the days; until an hour has been learned, the mean of the last minutes. Absents come
 * with lookups: where there are more of these than usual, as many more absents are usual.
 */
export class UsualRate {
  private readonly hours: (LookupRates | undefined)[] = Array.from({ length: 24 });
  private hour = -1;
  /** Sums of the minutes of this hour. */
  private sum = { minutes: 0, absent: 0, passed: 0 };
  /** Decaying sums of the last minutes. */
  private recent = { weight: 0, absent: 0, passed: 0 };

  /** One minute without an attack. */
  learn(hour: number, { absent, passed }: LookupRates): void {
    if (hour !== this.hour) this.endHour(hour);
    const { sum, recent } = this;
    sum.minutes++;
    sum.absent += absent;
    sum.passed += passed;
    recent.weight = recent.weight * MINUTE_DECAY + 1;
    recent.absent = recent.absent * MINUTE_DECAY + absent;
    recent.passed = recent.passed * MINUTE_DECAY + passed;
  }

  /**
   * Absents a second that are usual at this hour.
   *
   * @param passed lookups a second that are not absent, now.
   */
  at(hour: number, passed: number): number {
    const learned = this.hours[hour];
    const { weight, absent, passed: others } = this.recent;
    const rates = learned ?? {
      absent: weight > 0 ? absent / weight : 0,
      passed: weight > 0 ? others / weight : 0,
    };
    const ratio = rates.passed > 0 ? rates.absent / rates.passed : 0;
    const least = learned && learned.passed >= LEAST_PASSED ? LEAST_RATIO : COLD_RATIO;
    return Math.max(rates.absent, Math.min(MOST_RATIO, Math.max(least, ratio)) * passed);
  }

  private endHour(next: number): void {
    const { minutes, absent, passed } = this.sum;
    if (minutes >= MINUTES_OF_AN_HOUR) {
      const mean = { absent: absent / minutes, passed: passed / minutes };
      const before = this.hours[this.hour];
      this.hours[this.hour] = before
        ? { absent: smoothed(before.absent, mean.absent), passed: smoothed(before.passed, mean.passed) }
        : mean;
    }
    this.hour = next;
    this.sum = { minutes: 0, absent: 0, passed: 0 };
  }
}

/** Below one a second there is nothing to take by and by. */
function smoothed(before: number, now: number): number {
  return before + DAY_WEIGHT * (Math.min(now, MOST_GROWTH * Math.max(before, 1)) - before);
}
