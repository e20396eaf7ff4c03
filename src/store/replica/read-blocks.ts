import { BLOCK_BYTES } from '../../filter/index.js';
import type { CopyableFilter } from '../index.js';
import type { CopyBudget } from './copy-budget.js';
import type { LocalCopy } from './local-copy.js';

/** What one command of a load moves, 64 KiB: no lookup waits long behind it. */
const PIECE_BLOCKS = 256;

/**
 * Reads all blocks of a copy's generation into it.
 *
 * @param isWanted whether the copy is still needed; looked at after each wait.
 * @returns `foreign`: a block is not of this generation, which was swapped or damaged.
 * @throws {BloomUnavailableError} when the store cannot be asked.
 */
export async function readBlocks(
  copy: LocalCopy,
  from: Pick<CopyableFilter, 'readBlocks'>,
  budget: CopyBudget,
  isWanted: () => boolean,
): Promise<'read' | 'foreign' | 'unwanted'> {
  const { blocks } = copy.generation;
  for (let first = 0; first < blocks; first += PIECE_BLOCKS) {
    const count = Math.min(PIECE_BLOCKS, blocks - first);
    const bytes = await from.readBlocks(first, count);
    if (!isWanted()) return 'unwanted';
    if (bytes.length !== count * BLOCK_BYTES || !copy.fill(first, bytes)) return 'foreign';
    await budget.pay(bytes.length);
    if (!isWanted()) return 'unwanted';
  }
  return 'read';
}
