import { type BloomEventListener, BloomRebuildError } from '../../../common/index.js';
import {
  BUILDS_NOTHING_HERE,
  FORMAT_TOO_NEW,
  LEASE_GONE,
  METADATA_GONE_IN_REBUILD,
  OTHER_BUILD_LIVE,
  SERVER_CHANGED,
  STAGED_KEY_GONE,
} from './swap.messages.js';
import { MAX_ATTEMPTS, type Refusal } from './rebuild-step.js';

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
 * Swaps, and decides by the metadata whether a swap took place whose reply was lost. Returns what it was made
 * against.
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
      return new BloomRebuildError('lease-lost', LEASE_GONE);
    case 'LENGTH':
      return new BloomRebuildError('staging-damaged', STAGED_KEY_GONE);
    case 'SERVER':
      return new BloomRebuildError('staging-damaged', SERVER_CHANGED);
    case 'NOMETA':
      return new BloomRebuildError('staging-damaged', METADATA_GONE_IN_REBUILD);
    case 'OWNER':
      return new BloomRebuildError('store-failed', BUILDS_NOTHING_HERE);
    case 'FORMAT':
      return new BloomRebuildError('store-failed', FORMAT_TOO_NEW);
    default:
      return new BloomRebuildError('staging-damaged', OTHER_BUILD_LIVE);
  }
}
