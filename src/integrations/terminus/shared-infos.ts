import { BloomUnavailableError } from '../../common/index.js';
import type { BloomFilter, BloomFilterInfo, BloomService } from '../../service/index.js';
import { NOT_ASKED } from './terminus.messages.js';

/** An answer serves the probes of so long: a route that everybody may call must not make Redis measure a filter for each request. */
const KEPT_MS = 1000;
/** A question that has had no answer for so long is asked again. */
const LOST_MS = 10_000;

interface Question {
  /** Rejects with a text that everybody may read. */
  readonly answer: Promise<BloomFilterInfo>;
  /** By the clock of `performance.now()`. */
  keptUntil: number;
}

/** Asks for the state of a filter once for all probes of the same time. */
export class SharedInfos {
  private readonly questions = new Map<string, Question>();

  constructor(private readonly service: BloomService) {}

  /**
   * Rejects when the store cannot be asked, and an event reports why.
   *
   * @throws {BloomConfigError} when no filter of this name is registered.
   */
  of(name: string): Promise<BloomFilterInfo> {
    const filter = this.service.guardable(name);
    const asked = this.questions.get(name);
    if (asked && performance.now() < asked.keptUntil) return asked.answer;
    const question: Question = { answer: this.ask(filter), keptUntil: performance.now() + LOST_MS };
    this.questions.set(name, question);
    const keep = () => void (question.keptUntil = performance.now() + KEPT_MS);
    question.answer.then(keep, keep);
    return question.answer;
  }

  private async ask(filter: BloomFilter): Promise<BloomFilterInfo> {
    try {
      return await filter.info();
    } catch (error) {
      this.service.emit({ type: 'store-error', filter: filter.name, operation: 'info', error });
      throw new BloomUnavailableError(NOT_ASKED);
    }
  }
}
