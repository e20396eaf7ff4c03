import { createHash } from 'node:crypto';
import { luaSources } from '../../src/store/redis/index.js';

/** Of the server that a schedule begins with. */
const FIRST_RUN_ID = 'server0000';

export function runId(restarts: number): string {
  return `server${String(restarts).padStart(4, '0')}`;
}

/**
 * In front of a script: the server is the one that the key `…:server` beside `meta` names. So each schedule has a server of
 * its own to restart.
 */
const PRELUDE = `local real = redis
local function simulated(ask)
  return function(command, ...)
    if command ~= 'INFO' then return ask(command, ...) end
    local runId = real.call('GET', string.sub(KEYS[1], 1, -5) .. 'server') or '${FIRST_RUN_ID}'
    return 'run_id:' .. runId .. ' role:master'
  end
end
local redis = { call = simulated(real.call), pcall = simulated(real.pcall), error_reply = real.error_reply }
`;

/** The Lua that explored instances run, and the names of its scripts. */
export class SimulatedServer {
  readonly sources: typeof luaSources;
  private readonly names = new Map<string, string>();

  constructor(sources: typeof luaSources = luaSources) {
    const entries = Object.entries(sources).map(([name, { source }]) => [
      name,
      { source: source.includes("'INFO'") ? PRELUDE + source : source },
    ]);
    this.sources = Object.fromEntries(entries) as typeof luaSources;
    for (const [name, { source }] of Object.entries(this.sources)) this.names.set(sha1(source), name);
  }

  nameOf(digest: string): string | undefined {
    return this.names.get(digest);
  }
}

export function sha1(text: string): string {
  return createHash('sha1').update(text).digest('hex');
}
