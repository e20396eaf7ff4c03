import type { BloomEvent, BloomEventListener } from '../common/index.js';
import type { BloomId, IdKey } from '../filter/index.js';
import type { DistrustPauses } from '../store/index.js';
import type { GuardState } from './guard-state.js';
import { adviseOnWrongAbsents, foundButAbsent } from './service.messages.js';

/** A guarded method found something for an id that the filter answered "absent". */
export interface WrongAbsentReport {
  /** As the caller wrote it. */
  readonly id: BloomId;
  readonly key: IdKey;
  /** `ProductRepository.find` */
  readonly method: string;
  /** The type of what it returned, without what is in it. */
  readonly returned: string;
}

export interface WrongAbsentsOptions {
  readonly filter: string;
  readonly guarding: GuardState;
  /** Without one the filter stays out of service, and takes no ids, until somebody empties it. */
  readonly hasSource: boolean;
  readonly emit: BloomEventListener;
  /** Whether the filter still answers "absent". */
  readonly isAbsent: (key: IdKey) => Promise<boolean>;
  /** Takes the filter out of service until it is rebuilt; false where another process did within the pause, or it is out of service. */
  readonly distrust: (reason: string, pauses: DistrustPauses) => Promise<boolean>;
  readonly add: (key: IdKey) => Promise<unknown>;
}

/** Time after a distrust before the next one; doubles with each, since a rebuild has not helped then. */
const PAUSE_MS = 5 * 60_000;
const MAX_PAUSE_MS = 24 * 3_600_000;
/** The store keeps the same pauses for all processes, and for those that start again. */
const PAUSES: DistrustPauses = { firstMs: PAUSE_MS, lastMs: MAX_PAUSE_MS };
/** The most ids recorded one by one in such a pause: a method that is wrong about every id must not fill the filter. */
const MAX_ADDS = 100;
const ADVISE_EVERY_MS = 60_000;

/**
 * Decides what a wrong "absent" leads to. Either the filter lacks an id, and a rebuild mends that, or the method returns something
 * for ids that do not exist. Then lookups of made-up ids would cause one rebuild after another. So a filter in shadow mode is never
 * distrusted, and any other one at most once in five minutes, with pauses that grow, which all processes share by the store. A process
 * pauses also when another one has distrusted the filter. A method that has never found nothing is believed once, and not
 * at all where no rebuild can follow.
 */
export class WrongAbsents {
  private readonly believed = new Set<string>();
  private nextAt = -Infinity;
  private pauseMs = PAUSE_MS;
  private adds = 0;
  private advisedAt = -Infinity;

  constructor(private readonly options: WrongAbsentsOptions) {}

  /** Rejects when the store cannot be asked. */
  async report(report: WrongAbsentReport): Promise<void> {
    const { id, key, method } = report;
    const { filter, guarding, hasSource, emit, isAbsent, distrust, add } = this.options;
    if (!(await isAbsent(key))) return;
    guarding.wrongAbsents++;
    let distrusted = false;
    try {
      const mayDistrust = guarding.mode === 'on' && this.mayDistrust(method);
      distrusted = mayDistrust && (await distrust(foundButAbsent(method), PAUSES));
    } finally {
      const { absent: absents, wrongAbsents } = guarding;
      emit({ type: 'wrong-absent', filter, id, method, wrongAbsents, absents, distrusted });
    }
    if (!distrusted) this.advise(report);
    if (guarding.mode !== 'on' || (distrusted && !hasSource)) return;
    if (distrusted || this.mayAdd(method)) await add(key);
  }

  /** To be called with the events of the store: a filter that is suspect is rebuilt, whichever process made it so. */
  hear(event: BloomEvent): void {
    const isSuspect = event.type === 'state-changed' && event.state === 'suspect';
    if (isSuspect && performance.now() >= this.nextAt) this.pause();
  }

  private mayDistrust(method: string): boolean {
    const { guarding, hasSource } = this.options;
    if (performance.now() < this.nextAt) return false;
    if (!guarding.discerning.has(method)) {
      if (!hasSource || this.believed.has(method)) return false;
      this.believed.add(method);
    }
    this.pause();
    return true;
  }

  /** Distrusts nothing for a while. */
  private pause(): void {
    const now = performance.now();
    // A calm as long as the last pause says that the last rebuild has helped.
    this.pauseMs = now > this.nextAt + this.pauseMs ? PAUSE_MS : Math.min(this.pauseMs * 2, MAX_PAUSE_MS);
    this.nextAt = now + this.pauseMs;
    this.adds = 0;
  }

  /** The id may well exist, and then it is found from now on. */
  private mayAdd(method: string): boolean {
    return this.options.guarding.discerning.has(method) && this.adds++ < MAX_ADDS;
  }

  private advise(report: WrongAbsentReport): void {
    const { filter, guarding, emit } = this.options;
    const now = performance.now();
    if (now - this.advisedAt < ADVISE_EVERY_MS) return;
    this.advisedAt = now;
    const { method, returned } = report;
    const hasFoundNothing = guarding.discerning.has(method);
    const text = adviseOnWrongAbsents(report, hasFoundNothing);
    emit({
      type: 'advice',
      filter,
      text,
      withoutId: adviseOnWrongAbsents({ method, returned }, hasFoundNothing),
    });
  }
}
