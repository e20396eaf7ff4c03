import type { Clock } from '../common/index.js';
import type { BloomFilterOptions } from './filter-options.js';

/** Which absent answers go to the method all the same, to be compared with what it finds. */
export interface AuditRule {
  /** Share of the absent answers, 0 to 1. */
  readonly sampleRate: number;
  /** The most of them in a second, of all guards of the filter in this process. */
  readonly mostPerSecond: number;
  /** Absent answers of each guard that go to its method first. */
  readonly trial: number;
}

export const NO_AUDIT: AuditRule = { sampleRate: 0, mostPerSecond: 0, trial: 0 };

const TRIAL = 20;
/** Where the application sets no rate: a flood of absent ids costs a few queries a second. */
const USUAL = { sampleRate: 0.001, mostPerSecond: 5 };

export function auditRule(option: BloomFilterOptions['audit'], hasSource: boolean): AuditRule {
  if (option === false || option?.sampleRate === 0) return NO_AUDIT;
  if (option) return { sampleRate: option.sampleRate, mostPerSecond: Infinity, trial: TRIAL };
  return { ...USUAL, sampleRate: hasSource ? USUAL.sampleRate : 0, trial: TRIAL };
}

/** Picks a share of the absent answers. It counts down to the next one, since a draw for each takes longer. */
export class AuditSample {
  /** Answers up to the next one that is picked, which counts; 0: none is. */
  private left: number;
  private secondBegan = -Infinity;
  private picked = 0;

  constructor(
    private readonly rule: AuditRule,
    private readonly clock: Pick<Clock, 'now'>,
  ) {
    this.left = rule.sampleRate > 0 ? this.gap() : 0;
  }

  isNext(): boolean {
    if (this.left === 0 || --this.left > 0) return false;
    this.left = this.gap();
    return this.isWithinBound();
  }

  /** As many as if each answer were picked by chance. */
  private gap(): number {
    return 1 + Math.floor(Math.log(1 - Math.random()) / Math.log1p(-this.rule.sampleRate));
  }

  private isWithinBound(): boolean {
    const now = this.clock.now();
    if (now - this.secondBegan >= 1000) {
      this.secondBegan = now;
      this.picked = 0;
    }
    return this.picked++ < this.rule.mostPerSecond;
  }
}
