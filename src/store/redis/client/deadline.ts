import { BloomUnavailableError } from '../../../common/index.js';
import { answeredTooLate } from './client.messages.js';

/** The server has not answered in time. */
export class DeadlineError extends BloomUnavailableError {}

/**
 * Rejects when the promise has not settled after `ms`. Replies that wait in the socket when the time is up
 * still count: after a pause of the event loop the timer comes before them, and a pause is no fault of the
 * server.
 */
export async function withDeadline<Value>(
  promise: Promise<Value>,
  ms: number,
  operation: string,
): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const expire = () => reject(new DeadlineError(answeredTooLate(operation, ms)));
    timer = setTimeout(() => setImmediate(expire), ms);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
