import { type BoardContents, RedisBoard } from 'nestjs-bloom/internal';
import { type InspectorOptions, kindsOf } from './filter-inspector.js';

/** What the processes that have a filter report to each other, and what they are told. */
export interface FilterBoard {
  readonly board: RedisBoard;
  readonly contents: BoardContents;
  /** Whether a process holds the lock of rebuilds. */
  readonly isRebuilding: boolean;
}

/** Nobody follows the mode here. */
const NO_METADATA = { followMode: () => {}, refresh: () => Promise.resolve() };

/**
 * The board of a filter, and one more for each other layout that was used under this name. None: Redis has
 * neither metadata nor reports of such a filter.
 *
 * @throws {BloomUnavailableError} when the server cannot be asked.
 */
export async function boardsOf(options: Omit<InspectorOptions, 'scripts'>): Promise<FilterBoard[]> {
  const { name, connection } = options;
  const found: FilterBoard[] = [];
  for (const { keys } of kindsOf(options)) {
    const { meta, lease } = keys;
    const board = new RedisBoard({ name, connection, meta, owner: undefined, metadata: NO_METADATA });
    const [isThere, isRebuilding, contents] = await Promise.all([
      connection.commandWrite('EXISTS', meta, []).then(Boolean),
      connection.commandWrite('EXISTS', lease, []).then(Boolean),
      board.read(),
    ]);
    if (isThere || contents.mode || contents.instances.length > 0)
      found.push({ board, contents, isRebuilding });
  }
  return found;
}
