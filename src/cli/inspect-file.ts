import { count, plural } from '../common/index.js';
import { measuredFillOf } from '../filter/index.js';
import { EXIT } from './cli-error.js';
import { fileOf } from './file-of-filter.js';
import type { Terminal } from './terminal.js';
import { bytes, moment, share } from './texts.js';

/** What a file says of the generation that was exported into it. */
export function inspectFile(
  terminal: Terminal,
  name: string,
  { file, json }: { readonly file: string; readonly json?: boolean },
): number {
  const { header, blocks } = fileOf(name, file);
  const { generation, count: ids, capacity, errorRate, exportedAt } = header;
  const { fillRatio, errorRate: measuredErrorRate } = measuredFillOf(blocks, generation.hashCount);
  const tag = generation.tag.toString(16).padStart(8, '0');
  const facts = {
    filter: name,
    exportedAt,
    generation: tag,
    count: ids,
    capacity,
    errorRate,
    measuredErrorRate,
    fillRatio,
    bytes: blocks.length,
    hashCount: generation.hashCount,
    maxIdBytes: generation.maxIdBytes,
  };
  if (json) {
    terminal.json(facts);
    return EXIT.fine;
  }
  terminal.print(`${terminal.styled('bold', name)}  as of ${moment(new Date(exportedAt))}`);
  terminal.list([
    [
      'layout',
      `blocked, ${plural(generation.hashCount, 'bit')} for an id, ids up to ${plural(generation.maxIdBytes, 'byte')}`,
    ],
    ['generation', tag],
    ['ids', `${count(ids)}, planned for ${count(capacity)}; what was added later is not in it`],
    [
      'error rate',
      `${share(errorRate)} asked for; ${share(measuredErrorRate)} of the absent ids pass, ${share(fillRatio)} of the bits are set`,
    ],
    ['size', bytes(blocks.length)],
  ]);
  return EXIT.fine;
}
