import { readFileSync } from 'node:fs';
import { usageError } from './cli-error.js';
import { fileOfOtherFilter, notAnExport } from './cli.messages.js';
import { type GenerationFile, readGenerationFile } from './generation-file.js';

/**
 * The file of a filter.
 *
 * @throws {CliError} for a path that leads to no file, and for a file of another filter.
 * @throws {BloomFormatError} for one that `export` has not written whole.
 */
export function fileOf(name: string, path: string): GenerationFile {
  const file = readGenerationFile(read(path));
  if (file.header.filter !== name) throw usageError(fileOfOtherFilter(name, file.header.filter));
  return file;
}

function read(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw usageError(notAnExport(error));
  }
}
