import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { messagesOf, PUT_IN } from '../support/messages-of-source.js';

const fileOf = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));

/** The quoted message of each row, in the tables that begin with messages. */
function messagesOfPage(): string[] {
  const page = readFileSync(fileOf('docs/troubleshooting.md'), 'utf8');
  return page
    .split(/^## /m)
    .filter((section) => /^\| message /m.test(section))
    .flatMap((section) => [...section.matchAll(/^\| `([^`]+)`/gm)].map(([, message]) => message!));
}

/** Whether a message of the source contains the quoted one, whose "…" stand for anything. */
function isOf(quoted: string): (message: string) => boolean {
  const parts = quoted.split(PUT_IN).map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  const pattern = new RegExp(parts.join('[^]*?'));
  return (message) => pattern.test(message);
}

describe('The messages in docs/troubleshooting.md', () => {
  it('are those of the source', () => {
    const messages = [...messagesOf(fileOf('src')), ...messagesOf(fileOf('packages'))];
    const quoted = messagesOfPage();
    expect(quoted.length).toBeGreaterThan(20);
    expect(quoted.filter((message) => !messages.some(isOf(message)))).toEqual([]);
  });
});
