import type { BloomId } from '../filter/index.js';
import { type BloomVerdict, verdictOf } from '../store/index.js';
import type { BloomService } from './bloom.service.js';

/** What a filter answers for an id, and what knew it: an id that waits to be added, this process, or the store. */
export interface ExplainedVerdict {
  readonly verdict: BloomVerdict;
  readonly by: 'queue' | 'process' | 'store';
}

/**
 * Asks a filter as its guards do.
 *
 * @throws {BloomConfigError} when no filter of this name is registered.
 * @throws {BloomIdError} for what cannot be an id.
 */
export async function explainVerdict(
  service: BloomService,
  filter: string,
  id: BloomId,
): Promise<ExplainedVerdict> {
  const asked = service.guardable(filter);
  const key = asked.keys.of(id);
  if (asked.guarding.isQueued(key, asked.keys)) return { verdict: 'maybe', by: 'queue' };
  const outcome = asked.checkKey(key);
  return { verdict: verdictOf(await outcome), by: typeof outcome === 'string' ? 'process' : 'store' };
}
