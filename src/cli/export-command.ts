import { once } from 'node:events';
import { plural, systemClock } from '../common/index.js';
import { BLOCK_BYTES, blocked } from '../filter/index.js';
import { FilterInspector } from '../store/redis/inspection/index.js';
import { CliError, EXIT, usageError } from './cli-error.js';
import { areOf, GenerationFileWriter } from './generation-file.js';
import type { RedisSession } from './redis-session.js';
import type { Terminal } from './terminal.js';
import { bytes } from './texts.js';
import {
  OUTPUT_TO_TERMINAL,
  notOfBlocked,
  nothingToExport,
  notReadyAnyMore,
  EXPORT_CUT_SHORT,
} from './cli.messages.js';

/** Of one command to the server: it holds it for less than a millisecond. */
const BLOCKS_AT_ONCE = 256;

/** Writes the live generation of a filter to the output, as a file. */
export async function exportFilter(
  terminal: Terminal,
  { store }: RedisSession,
  name: string,
): Promise<number> {
  if (terminal.isInteractive) throw usageError(OUTPUT_TO_TERMINAL);
  const found = await new FilterInspector({ ...store.access, name }).inspect({ walkMs: 0 });
  const { partitions } = found;
  if (partitions !== undefined)
    throw new CliError(notOfBlocked(`blocked in ${plural(partitions, 'partition')}`));
  if (found.layout !== 'blocked' && found.state !== 'missing') throw new CliError(notOfBlocked(found.layout));
  if (found.state !== 'ready')
    throw new CliError(nothingToExport(name, found.state, found.note ?? 'there is nothing to export.'));
  if (found.note !== undefined) terminal.complain(`${terminal.styled('yellow', 'warning:')} ${found.note}`);
  // What the inspection believes is what is opened here: nothing is taken out of service.
  const filter = store.openCopyable({
    name,
    emit: () => {},
    clock: systemClock,
    layout: blocked,
    plan: { capacity: 1, errorRate: 0.001, maxIdBytes: 1024 },
    hasSource: true,
    drainMs: 0,
    owner: false,
    onBlocks: () => {},
  });
  try {
    const { generation, count: ids, capacity, errorRate } = await filter.describe();
    if (!generation) throw new CliError(notReadyAnyMore(name));
    const writer = new GenerationFileWriter();
    const exportedAt = new Date().toISOString();
    const write = async (part: Buffer) => {
      if (!terminal.output.write(part)) await once(terminal.output, 'drain');
    };
    await write(writer.head({ filter: name, generation, count: ids, capacity, errorRate, exportedAt }));
    for (let first = 0; first < generation.blocks; first += BLOCKS_AT_ONCE) {
      const blocks = Math.min(BLOCKS_AT_ONCE, generation.blocks - first);
      const piece = Buffer.from(await filter.readBlocks(first, blocks));
      if (piece.length !== blocks * BLOCK_BYTES || !areOf(generation, piece))
        throw new CliError(EXPORT_CUT_SHORT);
      await write(writer.part(piece));
    }
    await write(writer.end());
    terminal.complain(
      `${name}: generation of ${plural(ids, 'id')}, ${bytes(generation.blocks * BLOCK_BYTES)}, exported at ${exportedAt}.`,
    );
    return EXIT.fine;
  } finally {
    await filter.close();
  }
}
