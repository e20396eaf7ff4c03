import { readFileSync, realpathSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { isOwnerName } from '../service/index.js';

let detected: { readonly name: string | undefined } | undefined;

/** The name under which this application claims filters in Redis; undefined when it claims none. */
export function ownerOf(option: string | false | undefined): string | undefined {
  if (option !== undefined) return option || undefined;
  return (detected ??= { name: applicationName(process.argv[1], process.cwd()) }).name;
}

/**
 * The name in the package.json nearest to the main module. A main module in node_modules is a tool that runs the application: then
 * the working directory counts.
 */
export function applicationName(main: string | undefined, workingDirectory: string): string | undefined {
  const from = main === undefined ? undefined : dirname(realPath(main));
  return nameAbove(from === undefined || isInstalled(from) ? workingDirectory : from);
}

function nameAbove(start: string): string | undefined {
  for (let directory = start; ; directory = dirname(directory)) {
    const name = isInstalled(directory) ? undefined : nameIn(directory);
    if (name !== undefined) return name;
    if (directory === dirname(directory)) return undefined;
  }
}

/** Undefined also for a package.json without a name, which only gives the type of the modules beside it. */
function nameIn(directory: string): string | undefined {
  try {
    const { name } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8')) as { name?: unknown };
    return isOwnerName(name) ? name : undefined;
  } catch {
    return undefined;
  }
}

function isInstalled(directory: string): boolean {
  return directory.split(sep).includes('node_modules');
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
