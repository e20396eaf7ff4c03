import { type HeartbeatRule, isOwnerName } from '../service/index.js';
import type { FilterStore } from '../store/index.js';
import { MemoryStore } from '../store/memory/index.js';
import { PartitioningStore } from '../store/partitions/index.js';
import { RedisStore } from '../store/redis/index.js';
import { LocalCopyStore } from '../store/local-copy/index.js';
import type { AnyModuleOptions } from './bloom-module-options.js';
import type { EventHub } from './event-hub.js';
import { readFileSync, realpathSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';

const MIB = 1024 * 1024;

/** The store that the options ask for. */
export async function createStore(options: AnyModuleOptions, events: EventHub): Promise<FilterStore> {
  const {
    redis,
    runtime,
    keyPrefix = 'bloom',
    // A lookup may have to connect.
    timeoutMs = runtime ? 250 : 25,
    writeTimeoutMs = 2000,
    trustAfterFailover = false,
    copies: { bytesPerSecond = 8 * MIB, maxBytes = 256 * MIB } = {},
  } = options;
  if (options.store !== undefined) return new PartitioningStore(options.store as FilterStore);
  if (redis === undefined) return new PartitioningStore(new MemoryStore());
  const inRedis = await RedisStore.connect({
    redis,
    keyPrefix,
    timeoutMs,
    writeTimeoutMs,
    trustAfterFailover,
    owner: ownerOf(options.owner),
    emit: events.emit,
  });
  const copied = runtime ? inRedis : new LocalCopyStore(inRedis, { bytesPerSecond, maxBytes });
  return new PartitioningStore(copied);
}

/** How often a process reports to the others. */
export function heartbeatOf({ heartbeat }: AnyModuleOptions): HeartbeatRule | false {
  if (heartbeat === false) return false;
  const { everyMs = 1000 } = typeof heartbeat === 'object' ? heartbeat : {};
  return { everyMs, isAlways: heartbeat !== undefined };
}

let detected: { readonly name: string | undefined } | undefined;

/** The name under which this application claims filters in Redis; undefined when it claims none. */
export function ownerOf(option: string | false | undefined): string | undefined {
  if (option !== undefined) return option || undefined;
  return (detected ??= { name: applicationName(process.argv[1], process.cwd()) }).name;
}

/**
 * The name in the package.json nearest to the main module. If that is in node_modules, it is a tool that runs
 * the application, and the working directory counts.
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
