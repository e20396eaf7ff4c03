import type { ExecutionContext } from '@nestjs/common';
import { isAbove, isFunction, isInteger, isNumber, type OptionTable } from '../common/index.js';

/**
 * When lookups of absent ids are an attack, and which client sends them. For each process and each filter.
 */
export interface BloomAttackOptions {
  /** Fewer absents a second than this are never an attack. Default 50. */
  readonly minPerSecond?: number;
  /** An attack has at least so many times the usual absents of the last minutes. Default 4. */
  readonly factor?: number;
  /** How long the rate must be that high on average, in milliseconds, 500 to 60,000. Default 1,500. */
  readonly startAfterMs?: number;
  /**
   * How long the rate must be below half of that until the attack has ended, in milliseconds. Default 30,000.
   */
  readonly endAfterMs?: number;
  /**
   * Names the client of a request, such as `clientAddress`: the absents of each client are counted,
   * `worstClients()` and the events name the worst, and `BloomThrottlerGuard` can refuse them. Called for
   * each absent lookup within a request that `BloomInterceptor` has seen; bind it globally. Undefined: no
   * client. Default: nothing is counted.
   */
  readonly client?: (context: ExecutionContext) => string | undefined;
  /**
   * Clients that are counted at one time, for each filter and minute: those with the most absents. Default
   * 10,000.
   */
  readonly maxClients?: number;
}

export const ATTACK_OPTIONS = {
  minPerSecond: ['a number above 0', isAbove(0)],
  factor: ['a number above 1', isAbove(1)],
  startAfterMs: ['a number from 500 to 60,000', isNumber(500, 60_000)],
  endAfterMs: ['a number above 0', isAbove(0)],
  client: ['a function of the ExecutionContext of a request', isFunction],
  maxClients: ['a whole number from 1 to 1,000,000', isInteger(1, 1_000_000)],
} satisfies OptionTable<BloomAttackOptions>;

/** How often a rule reads: often enough to tell a burst from a flood well within two seconds. */
export const SAMPLE_MS = 250;
/** After a longer pause of the process, what was before says nothing about now. */
const PAUSE_MS = 5_000;
const MINUTE_MS = 60_000;
/** Weight that a minute keeps in the mean when the next one ends: half of the mean is of the last 23. */
const MINUTE_DECAY = 0.97;
/** Absents that are usual for each lookup that is not absent. */
const USUAL_RATIO = 0.1;
/** The second window is so many times the first one: floods that come in waves, every few seconds. */
const WAVES = 7;
/** An attack ends below this share of the threshold, so that a rate near it starts one attack only. */
const END_SHARE = 0.5;

/** What a filter has counted since the process started, and when. */
export interface AttackReading {
  /** Milliseconds that only ever grow. */
  readonly now: number;
  readonly absents: number;
  readonly lookups: number;
  readonly methods: ReadonlyMap<string, number>;
}

/** An attack that has started, or one that has ended. All moments are of `now`. */
export type AttackChange =
  | {
      readonly type: 'started';
      readonly since: number;
      readonly method: string | undefined;
      /** Absents a second. */
      readonly rate: number;
      /** Share of the lookups, 0 to 1. */
      readonly share: number;
      readonly usualRate: number;
    }
  | {
      readonly type: 'ended';
      readonly method: string | undefined;
      readonly durationMs: number;
      readonly absents: number;
      readonly peakRate: number;
    };

interface Attack {
  readonly from: AttackReading;
  /** When absents were last too many. */
  last: AttackReading;
  /** Since when the rate is low. */
  quietSince: number;
  peakRate: number;
}

interface LookupRates {
  readonly absent: number;
  readonly passed: number;
}

/**
 * Decides from counters alone when an attack on a filter starts and ends. It starts when the absents a
 * second, over the last `startAfterMs` or over seven times that, reach the larger of `minPerSecond` and
 * `factor` times what is usual. They must do so without the fullest sample too: one burst is no attack. It
 * ends when they have been below half of that for `endAfterMs`. Usual is the mean of the last minutes
 * without an attack, or a tenth of the other lookups if that is more: ten times the visitors, who mistype
 * ten times the ids, are no attack.
 */
export class AttackRule {
  /** The last readings, the oldest first; as many as the longer window needs. */
  private readings: AttackReading[] = [];
  /** Begin of the minute that is being learned. */
  private minute: AttackReading | undefined;
  /** Minutes in which an attack may have begun that is not noticed yet. */
  private minutes: { readonly end: number; readonly absent: number }[] = [];
  /** Decaying sums of the minutes before. */
  private learned = { weight: 0, absent: 0 };
  private attack: Attack | undefined;

  private readonly settings: Required<Omit<BloomAttackOptions, 'client' | 'maxClients'>>;

  constructor(options: BloomAttackOptions = {}) {
    const { minPerSecond = 50, factor = 4, startAfterMs = 1_500, endAfterMs = 30_000 } = options;
    this.settings = { minPerSecond, factor, startAfterMs, endAfterMs };
  }

  /** To be called every `SAMPLE_MS`, or as near to it as the process comes. */
  read(reading: AttackReading): AttackChange | undefined {
    const last = this.readings.at(-1);
    if (last && reading.now <= last.now) return undefined;
    if (last && reading.now - last.now > PAUSE_MS) this.forget(reading);
    this.readings.push(reading);
    this.learn(reading);
    const change = this.attack ? this.end(this.attack, reading) : this.start(reading);
    this.dropOld(reading.now);
    return change;
  }

  private start(reading: AttackReading): AttackChange | undefined {
    const { startAfterMs, minPerSecond } = this.settings;
    // Nearly always.
    if (reading.absents - this.readings[0]!.absents < (minPerSecond * startAfterMs) / 1000) return undefined;
    const window = [startAfterMs, WAVES * startAfterMs]
      .map((ms) => this.window(ms))
      .find((readings) => readings && this.isTooMuch(readings));
    if (!window) return undefined;
    const from = this.onset(window);
    const { absent, passed } = rates(from, reading);
    this.attack = { from, last: reading, quietSince: reading.now, peakRate: absent };
    this.minute = undefined;
    this.minutes = this.minutes.filter(({ end }) => end <= from.now);
    return {
      type: 'started',
      since: from.now,
      method: mostBetween(from, reading),
      rate: absent,
      share: absent / (absent + passed),
      usualRate: this.usual(passed),
    };
  }

  private end(attack: Attack, reading: AttackReading): AttackChange | undefined {
    const window = this.window(this.settings.startAfterMs);
    if (!window) return undefined;
    const now = rates(window[0]!, reading);
    attack.peakRate = Math.max(attack.peakRate, now.absent);
    if (now.absent >= END_SHARE * this.threshold(now.passed)) {
      attack.last = reading;
      attack.quietSince = reading.now;
    }
    if (reading.now - attack.quietSince < this.settings.endAfterMs) return undefined;
    this.attack = undefined;
    // Absents of this attack are no sign of another one.
    this.readings = [reading];
    const { from, last, peakRate } = attack;
    return {
      type: 'ended',
      method: mostBetween(from, last),
      durationMs: last.now - from.now,
      absents: last.absents - from.absents,
      peakRate,
    };
  }

  private isTooMuch(window: readonly AttackReading[]): boolean {
    const [first, last] = [window[0]!, window.at(-1)!];
    const { absent, passed } = rates(first, last);
    const threshold = this.threshold(passed);
    if (absent < threshold) return false;
    let [most, itsMs] = [0, 0];
    for (const [i, { now, absents }] of window.entries()) {
      const before = window[i - 1];
      if (!before || absents - before.absents <= most) continue;
      [most, itsMs] = [absents - before.absents, now - before.now];
    }
    const restMs = last.now - first.now - itsMs;
    return restMs > 0 && ((last.absents - first.absents - most) * 1000) / restMs >= threshold;
  }

  private threshold(passed: number): number {
    const { minPerSecond, factor } = this.settings;
    return Math.max(minPerSecond, factor * this.usual(passed));
  }

  private usual(passed: number): number {
    const { weight, absent } = this.learned;
    return Math.max(weight > 0 ? absent / weight : 0, USUAL_RATIO * passed);
  }

  /** The readings that span at least this time, two samples or more; undefined before they exist. */
  private window(ms: number): readonly AttackReading[] | undefined {
    const { readings } = this;
    const end = readings.at(-1)!.now;
    for (let i = readings.length - 3; i >= 0; i--) {
      if (end - readings[i]!.now >= ms) return readings.slice(i);
    }
    return undefined;
  }

  /** Where the first sample begins that has too many. */
  private onset(window: readonly AttackReading[]): AttackReading {
    for (const [i, reading] of window.entries()) {
      const next = window[i + 1];
      if (!next) break;
      const { absent, passed } = rates(reading, next);
      if (absent >= this.threshold(passed)) return reading;
    }
    return window[0]!;
  }

  private learn(reading: AttackReading): void {
    if (this.attack) return;
    this.minute ??= reading;
    if (reading.now - this.minute.now < MINUTE_MS) return;
    this.minutes.push({ end: reading.now, absent: rates(this.minute, reading).absent });
    this.minute = reading;
    const seenAfterMs = WAVES * this.settings.startAfterMs;
    while (this.minutes.length > 0 && reading.now - this.minutes[0]!.end >= seenAfterMs) {
      const { absent } = this.minutes.shift()!;
      this.learned = {
        weight: this.learned.weight * MINUTE_DECAY + 1,
        absent: this.learned.absent * MINUTE_DECAY + absent,
      };
    }
  }

  /** The process was stopped, or the machine slept. */
  private forget({ now }: AttackReading): void {
    this.readings = [];
    this.minute = undefined;
    if (this.attack) this.attack.quietSince = now;
  }

  private dropOld(now: number): void {
    const { readings } = this;
    const needed = WAVES * this.settings.startAfterMs;
    while (readings.length > 3 && now - readings[1]!.now >= needed) readings.shift();
  }
}

function rates(from: AttackReading, to: AttackReading): LookupRates {
  const seconds = (to.now - from.now) / 1000;
  const absents = to.absents - from.absents;
  return {
    absent: absents / seconds,
    passed: Math.max(0, to.lookups - from.lookups - absents) / seconds,
  };
}

/** The method that has answered the most absents. */
function mostBetween({ methods: before }: AttackReading, { methods }: AttackReading): string | undefined {
  let method: string | undefined;
  let most = 0;
  for (const [name, absents] of methods) {
    const more = absents - (before.get(name) ?? 0);
    if (more > most) [method, most] = [name, more];
  }
  return method;
}
