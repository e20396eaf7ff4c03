import { BloomUnavailableError, printed } from '../../../common/index.js';
import { unexpectedReply } from './client.messages.js';

/**
 * The error for a reply that the server does not document.
 *
 * @param asked the command or the script that was sent.
 */
export function unexpectedReplyError(asked: string, reply: unknown): BloomUnavailableError {
  return new BloomUnavailableError(unexpectedReply(asked, printed(reply)));
}
