import { BloomConfigError } from '../../../common/index.js';
import type { BfScripts } from './bf-scripts.js';

const NEEDED = ['BF.RESERVE', 'BF.INSERT', 'BF.MEXISTS', 'BF.INFO'];
const LOAD = 'BF.LOADCHUNK';
const TRIED = [...NEEDED, LOAD];

/** What the server can do with filters of `BF.*` commands. */
export interface ServerCommands {
  /** Whether a filter may be pushed as it is in memory; else its ids have to be added one by one (valkey-bloom). */
  readonly canLoad: boolean;
  /** What the server refuses to this user: each command, and its words. */
  readonly forbidden: readonly string[];
}

/** @throws {BloomConfigError} when the server has no such filters. */
export async function findCommands(scripts: BfScripts, filter: string): Promise<ServerCommands> {
  const answers = await scripts.probe(TRIED);
  const told = new Map(TRIED.map((command, i) => [command, answers[i] ?? '']));
  const missing = NEEDED.filter((command) => isUnknown(told.get(command)!));
  if (missing.length > 0) {
    throw new BloomConfigError(
      `Filter '${filter}': expected a server with ${missing.join(', ')} for a layout of kind 'redisbloom' (Redis 8, Redis Stack, ` +
        `Valkey with valkey-bloom, Dragonfly), got one that says "${told.get(missing[0]!)}". Load the module into it, name another ` +
        "server in the option redis, or use the layout 'blocked', which needs no module.",
    );
  }
  const load = told.get(LOAD)!;
  const forbidden = TRIED.filter((command) => isForbidden(told.get(command)!));
  return {
    canLoad: !isUnknown(load) && !isForbidden(load),
    forbidden: forbidden.map((command) => `${command}: ${told.get(command)}`),
  };
}

function isUnknown(told: string): boolean {
  return /unknown.*command/i.test(told);
}

function isForbidden(told: string): boolean {
  return /NOPERM|no permissions|can't run this command/i.test(told);
}
