import { setTimeout as delay } from 'node:timers/promises';

/** Waits until a condition holds; fails after a time that no healthy run takes. */
export async function eventually(
  what: string,
  holds: () => boolean | Promise<boolean>,
  timeoutMs = 120_000,
): Promise<void> {
  for (const deadline = performance.now() + timeoutMs; performance.now() < deadline; await delay(10)) {
    if (await holds()) return;
  }
  throw new Error(`Expected within ${timeoutMs} ms: ${what}.`);
}
