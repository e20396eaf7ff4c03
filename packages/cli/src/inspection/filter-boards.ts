import { type BoardContents, RedisBoard } from 'nestjs-bloom/internal';
import { hasFormat } from './filter-keys.js';
import { type InspectorOptions, kindsOf } from './filter-inspector.js';

/** What the processes that have a filter report to each other, and what they are told. */
export interface FilterBoard {
  readonly board: RedisBoard;
  readonly contents: BoardContents;
}

/** No process follows the mode here. */
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
    const { meta } = keys;
    const board = new RedisBoard({ name, connection, meta, owner: undefined, metadata: NO_METADATA });
    const [isThere, contents] = await Promise.all([hasFormat(connection, meta), board.read()]);
    if (isThere || contents.mode || contents.instances.length > 0) found.push({ board, contents });
  }
  return found;
}
