import { type BloomEventListener, BloomRebuildError } from '../../../common/index.js';
import type { Refusal } from './refusal.js';

/** How often a step starts over when the filter changed under it. */
const MAX_ATTEMPTS = 5;
/** How often, and with what pause, the metadata are asked whether a swap took place whose reply was lost. */
const SWAP_INQUIRIES = 20;
const SWAP_INQUIRY_PAUSE_MS = 500;

export interface SwapSteps<Snapshot> {
  readonly name: string;
  readonly emit: BloomEventListener;
  readonly metadata: { reload(): Promise<Snapshot>; forget(): void };
  /** Sends the swap against what is known as live. */
  swap(snapshot: Snapshot): Promise<Refusal | 'OK'>;
  /** Whether the staged generation is the live one. */
  isLive(snapshot: Snapshot): boolean;
}

/**
 * Swaps, and decides by the metadata whether a swap took place whose reply was lost. Returns what it was made against.
 *
 * @throws {BloomRebuildError} when it was refused.
 */
export async function commitSwap<Snapshot>(steps: SwapSteps<Snapshot>): Promise<Snapshot> {
  const { metadata } = steps;
  for (let attempt = 1; ; attempt++) {
    const snapshot = await metadata.reload();
    let reply: Refusal | 'OK' | undefined;
    let failure: unknown;
    try {
      reply = await steps.swap(snapshot);
    } catch (error) {
      failure = error;
    }
    metadata.forget();
    if (reply === 'OK' || (await isLiveNow(steps))) return snapshot;
    if (failure) throw failure;
    // The live generation went offline in between: the swap is still due.
    if (reply !== 'STALE' || attempt === MAX_ATTEMPTS) throw refused(reply!);
  }
}

async function isLiveNow<Snapshot>({ metadata, emit, name, isLive }: SwapSteps<Snapshot>): Promise<boolean> {
  for (let inquiry = 1; ; inquiry++) {
    try {
      return isLive(await metadata.reload());
    } catch (error) {
      if (inquiry === SWAP_INQUIRIES) throw error;
      emit({ type: 'store-error', filter: name, operation: 'ask whether the swap took place', error });
      await new Promise((resolve) => setTimeout(resolve, SWAP_INQUIRY_PAUSE_MS));
    }
  }
}

/** @throws {BloomRebuildError} unless the step of a rebuild was carried out. */
export function assertOk(reply: Refusal | 'OK'): void {
  if (reply !== 'OK') throw refused(reply);
}

function refused(reply: Refusal | 'OK'): BloomRebuildError {
  switch (reply) {
    case 'LEASE':
      return new BloomRebuildError('lease-lost', 'Another process holds the lease now, or it expired.');
    case 'LENGTH':
      return new BloomRebuildError(
        'staging-damaged',
        'A staged key was evicted, deleted or changed by somebody else.',
      );
    case 'SERVER':
      return new BloomRebuildError(
        'staging-damaged',
        'The server restarted or failed over during the rebuild.',
      );
    case 'NOMETA':
      return new BloomRebuildError(
        'staging-damaged',
        'The metadata of the filter vanished during the rebuild.',
      );
    case 'OWNER':
      return new BloomRebuildError(
        'store-failed',
        'The filter belongs to an application, and this one is another or has no owner. Set the same owner in both if they share the same rows, ' +
          'else give the filter another name.',
      );
    case 'FORMAT':
      return new BloomRebuildError('store-failed', 'The stored filter has a newer format.');
    default:
      return new BloomRebuildError(
        'staging-damaged',
        'Another rebuild was published, or the filter kept changing.',
      );
  }
}
