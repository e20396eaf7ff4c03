import type { Command } from 'ioredis';
import type { Reply } from './server-link.js';

/** Scripts after whose reply the generation of the copy is live no more. */
const ENDS: readonly (readonly [script: string, reply: string])[] = [
  ['bitmapSwap', 'OK'],
  ['bitmapSwap', 'LIVE'],
  ['bitmapAdopt', 'OK'],
  ['bitmapStage', 'STALE'],
  ['generationOffline', 'OK'],
];

/**
 * A copy that a peer has read of the live string, and may write back. It is to be noticed when the library
 * has added something since.
 */
export class OlderCopy {
  /** The key that was copied. */
  key: string | undefined;
  private adds = 0;

  /** Whether the filter must notice when it is put back. */
  get isMissed(): boolean {
    return this.key !== undefined && this.adds > 0;
  }

  take(key: string): void {
    this.key = key;
    this.adds = 0;
  }

  /** What the library did to the filter. */
  note(what: string, { args }: Command, { value }: Reply & { value: unknown }): void {
    const liveToken = String(args[2 + Number(args[1])]);
    if (what === 'bitmapAdd' && Array.isArray(value) && liveToken !== '' && String(value[0]).includes('1'))
      this.adds++;
    // Another generation is live, which the copy is none of; or none is, and with it went what the last adds
    // had noted of it: from there the copy lacks only what peers have added, which nobody can notice.
    if (ENDS.some(([script, reply]) => what === script && String(value) === reply)) this.forget();
  }

  forget(): void {
    this.key = undefined;
    this.adds = 0;
  }
}
