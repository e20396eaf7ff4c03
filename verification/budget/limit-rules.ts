import type { LimitRule } from '../../src/service/lookup-budget.js';
import { UsualLoad } from '../../src/service/usual-load.js';

export type RuleMaker = (clock: { now(): number }) => LimitRule;

/** The rules that were compared. The first one is the one of this package. */
export const RULES = {
  'usual load': (clock) => new UsualLoad(clock),
  'times ignored': (clock) => new Untimed(clock),
  none: () => new Fixed(Infinity),
  'four places': () => new Fixed(4),
  'fifty places': () => new Fixed(50),
  Vegas: () => new Vegas(20),
  Gradient2: () => new Gradient2(20),
  AIMD: () => new Aimd(20),
} satisfies Readonly<Record<string, RuleMaker>>;

/** The rule of this package without what it does about slow methods. */
class Untimed extends UsualLoad {
  override endUnjudged(): void {}
}

class Fixed implements LimitRule {
  constructor(protected current: number) {}
  get limit(): number {
    return Math.floor(this.current);
  }
  begin(): number {
    return 0;
  }
  end(): void {}
  beginUnjudged(): void {}
  endUnjudged(): void {}
}

/** By the least time ever seen, and the queue that it implies: `VegasLimit` of concurrency-limits. */
class Vegas extends Fixed {
  private leastMs = Infinity;
  override endUnjudged(ms = 0, running = 0): void {
    this.leastMs = Math.min(this.leastMs, ms);
    if (running * 2 < this.current) return;
    const { current } = this;
    const queue = Math.ceil(current * (1 - this.leastMs / ms));
    const step = Math.max(1, Math.log10(current));
    if (queue <= step) this.current = current + 6 * step;
    else if (queue < 3 * step) this.current = current + step;
    else if (queue > 6 * step) this.current = current - step;
    this.current = Math.min(1000, Math.max(1, this.current));
  }
}

/** By the ratio of the times of the last 600 calls to that of this one: `Gradient2Limit`. */
class Gradient2 extends Fixed {
  private longMs = 0;
  private samples = 0;
  override endUnjudged(ms = 0, running = 0): void {
    this.samples++;
    this.longMs += (ms - this.longMs) / Math.min(this.samples, 600);
    if (this.longMs > 2 * ms) this.longMs *= 0.95;
    if (running < this.current / 2) return;
    const gradient = Math.max(0.5, Math.min(1, (1.5 * this.longMs) / ms));
    const next = this.current * gradient + 4;
    this.current = Math.min(200, Math.max(20, 0.8 * this.current + 0.2 * next));
  }
}

/** Grows by one, and shrinks by a tenth with each call that takes longer than a bound: `AIMDLimit`. */
class Aimd extends Fixed {
  override endUnjudged(ms = 0, running = 0): void {
    if (ms > 50) this.current = Math.max(1, this.current * 0.9);
    else if (running * 2 >= this.current) this.current = Math.min(200, this.current + 1);
  }
}
