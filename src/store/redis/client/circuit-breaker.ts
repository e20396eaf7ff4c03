import { BloomUnavailableError } from '../../../common/index.js';
import { CIRCUIT_OPEN } from './client.messages.js';

/** Failures in a row after which lookups are no longer sent. */
const FAILURES_TO_OPEN = 5;
/** While open, one lookup is sent in this time to see whether the server is back. */
const TRIAL_EVERY_MS = 200;

/** A lookup was not sent because the last ones failed. The breaker reports them by one event, not one by one. */
export class CircuitOpenError extends BloomUnavailableError {}

/** Keeps lookups from waiting for a server that does not answer. */
export class CircuitBreaker {
  /** Set by the breaker alone. */
  isOpen = false;
  private failures = 0;
  private nextTrialAt = 0;
  private rejected = 0;

  constructor(
    private readonly onChange: (
      change: { open: true; error: unknown } | { open: false; rejected: number },
    ) => void,
  ) {}

  /** @throws {CircuitOpenError} when the lookup is not to be sent. */
  admit(): void {
    if (!this.isOpen) return;
    const now = performance.now();
    if (now >= this.nextTrialAt) {
      this.nextTrialAt = now + TRIAL_EVERY_MS;
      return;
    }
    this.rejected++;
    throw new CircuitOpenError(CIRCUIT_OPEN);
  }

  succeeded(): void {
    this.failures = 0;
    if (this.isOpen) this.end();
  }

  /** Nobody asks this server any more. */
  end(): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.onChange({ open: false, rejected: this.rejected });
    this.rejected = 0;
  }

  /** A reply came after its lookup had been given up. The server is there, so the next lookup shows whether it is fast enough again. */
  answeredLate(): void {
    this.nextTrialAt = 0;
  }

  failed(error: unknown): void {
    this.failures++;
    if (this.failures !== FAILURES_TO_OPEN) return;
    this.isOpen = true;
    this.nextTrialAt = performance.now() + TRIAL_EVERY_MS;
    this.onChange({ open: true, error });
  }
}
