import { BLOCK_BYTES } from '../../filter/index.js';
import { type CopyableFilter, GROUP_BLOCKS } from '../index.js';
import type { CopyBudget } from './copy-budget.js';
import type { LocalCopy } from './local-copy.js';

/**
 * What one command of a load moves: no lookup waits long behind it. With its head the reply fits into the 64 KiB that Node reads at once from a socket. The client
 * copies a larger reply into memory of its own, and the garbage of a load would be twice the filter.
 */
const PIECE_BLOCKS = 241;

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
  const countFrom = (first: number) =>
    Math.min(PIECE_BLOCKS, blocks - first, GROUP_BLOCKS - (first % GROUP_BLOCKS));
  const readFrom = (first: number) => from.readBlocks(first, countFrom(first));
  for (let first = 0, piece = readFrom(0); first < blocks;) {
    const bytes = await piece;
    await budget.pay(bytes.length);
    if (!isWanted()) return 'unwanted';
    const count = countFrom(first);
    const next = first + count;
    if (next < blocks) {
      // On its way while this piece is taken.
      piece = readFrom(next);
      piece.catch(() => {});
    }
    if (bytes.length !== count * BLOCK_BYTES || !copy.fill(first, bytes)) return 'foreign';
    first = next;
  }
  return 'read';
}
