import { BloomUnavailableError, printed } from '../../../common/index.js';
import { unexpectedReply } from './client.messages.js';

/** Whether an error says that the user may not do it, or that the server has no such command. */
export function isRefusal(error: string): boolean {
  return /NOPERM|no permissions|can't (run|access)/i.test(error) || isUnknownCommand(error);
}

export function isUnknownCommand(error: string): boolean {
  return /unknown.*command/i.test(error);
}

/**
 * The error for a reply that the server does not document.
 *
 * @param asked the command or the script that was sent.
 */
export function unexpectedReplyError(asked: string, reply: unknown): BloomUnavailableError {
  return new BloomUnavailableError(unexpectedReply(asked, printed(reply)));
}
