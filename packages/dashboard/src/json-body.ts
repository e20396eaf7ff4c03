import type { IncomingMessage } from 'node:http';
import type { Exchange } from './exchange.js';

/** More than any id, and no more memory than a request may take. */
const MAX_BYTES = 64 * 1024;

/**
 * What the request has sent, if it is a JSON object. Where no parser of the application has read it, it is
 * read here.
 */
export async function jsonBody({ request, message }: Exchange): Promise<Record<string, unknown> | undefined> {
  const body = request.body ?? (await parsed(message));
  return typeof body === 'object' && body !== null && !Array.isArray(body)
    ? (body as Record<string, unknown>)
    : undefined;
}

export function isJson(message: IncomingMessage): boolean {
  return /^application\/json\s*(;|$)/i.test(message.headers['content-type'] ?? '');
}

async function parsed(message: IncomingMessage): Promise<unknown> {
  if (!message.readable) return undefined;
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of message as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) return undefined;
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString());
  } catch {
    return undefined;
  }
}
