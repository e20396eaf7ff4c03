import type { BloomService } from '../service/index.js';
import type { KnownInfo } from './metrics-snapshot.js';

/** How long a collection waits for what is not known at all; the next one has it otherwise. */
const FIRST_ANSWER_MS = 1000;

interface Asked {
  known: KnownInfo | undefined;
  askedAt: number;
  answer: Promise<void> | undefined;
}

export interface KnownInfosOptions {
  readonly service: BloomService;
  /** Least time between two questions about one filter, in milliseconds. */
  readonly everyMs: number;
}

/**
 * What `info()` of the filters said, asked at a bounded rate: it reads up to 128 KiB from Redis. What is known stays while Redis does not answer,
 * with the time at which it was read.
 */
export class KnownInfos {
  private readonly byFilter = new Map<string, Asked>();

  constructor(private readonly options: KnownInfosOptions) {}

  /** Asks for what is too old, and waits only for what has never been known. Never rejects. */
  async refresh(filters: readonly string[]): Promise<void> {
    const first = filters.flatMap((filter) => {
      const asked = this.ask(filter);
      return asked.known || !asked.answer ? [] : [asked.answer];
    });
    if (first.length === 0) return;
    let timer: NodeJS.Timeout | undefined;
    const deadline = new Promise<void>((resolve) => (timer = setTimeout(resolve, FIRST_ANSWER_MS)));
    await Promise.race([Promise.all(first), deadline]);
    clearTimeout(timer);
  }

  of(filter: string): KnownInfo | undefined {
    return this.byFilter.get(filter)?.known;
  }

  private ask(filter: string): Asked {
    const now = performance.now();
    let asked = this.byFilter.get(filter);
    if (!asked)
      this.byFilter.set(filter, (asked = { known: undefined, askedAt: -Infinity, answer: undefined }));
    if (!asked.answer && now - asked.askedAt >= this.options.everyMs) {
      asked.askedAt = now;
      asked.answer = this.answerOf(filter, asked);
    }
    return asked;
  }

  private async answerOf(filter: string, asked: Asked): Promise<void> {
    const { service } = this.options;
    try {
      asked.known = { info: await service.guardable(filter).info(), readAt: new Date() };
    } catch (error) {
      service.emit({ type: 'store-error', filter, operation: 'info', error });
    } finally {
      asked.answer = undefined;
    }
  }
}
