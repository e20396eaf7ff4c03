import { createHash } from 'node:crypto';
import type { LuaSources } from '../../test/support/broken-lua.js';
import { scriptReplacer } from '../../test/support/lua-client.js';
import { luaSources } from '../../test/support/lua-sources.js';

/** Run id of the server that a schedule begins with. */
const FIRST_RUN_ID = 'server0000';

export function runId(restarts: number): string {
  return `server${String(restarts).padStart(4, '0')}`;
}

/**
 * In front of a script: the server is the one that the key `…:server` beside the first one names, and its
 * time in milliseconds is that of the key `…:clock`. So each schedule has a server of its own to restart.
 * What a script publishes is put into the list `…:published`, each channel before its message.
 */
const PRELUDE = `local real = redis
local function beside(name) return real.call('GET', string.match(KEYS[1], '^.*:') .. name) end
local function simulated(ask)
  return function(command, ...)
    if command == 'INFO' then return 'run_id:' .. (beside('server') or '${FIRST_RUN_ID}') .. ' role:master' end
    if command == 'TIME' then
      local now = tonumber(beside('clock') or 0)
      return { tostring(math.floor(now / 1000)), tostring(now % 1000 * 1000) }
    end
    if command == 'PUBLISH' then return real.call('RPUSH', string.match(KEYS[1], '^.*:') .. 'published', ...) end
    return ask(command, ...)
  end
end
local redis = { call = simulated(real.call), pcall = simulated(real.pcall), error_reply = real.error_reply }
redis.set_repl = function() end
`;

/** What `INFO server` says, by the value of the key `…:server`. */
export function infoOf(server: unknown): string {
  return `run_id:${server === null ? FIRST_RUN_ID : String(server as string)}`;
}

/** The Lua that the server runs for explored instances, and the names of its scripts. */
export class SimulatedServer {
  readonly sources: LuaSources;
  /** Has a command of the library run the script of this server. */
  readonly replaceScript: ReturnType<typeof scriptReplacer>;
  private readonly names = new Map<string, string>();

  constructor(sources: LuaSources = luaSources) {
    const entries = Object.entries(sources).map(([name, { source }]) => [
      name,
      { source: /'(INFO|TIME|PUBLISH)'/.test(source) ? PRELUDE + source : source },
    ]);
    this.sources = Object.fromEntries(entries) as LuaSources;
    this.replaceScript = scriptReplacer(this.sources);
    for (const [name, { source }] of Object.entries(this.sources)) this.names.set(sha1(source), name);
  }

  nameOf(digest: string): string | undefined {
    return this.names.get(digest);
  }
}

export function sha1(text: string): string {
  return createHash('sha1').update(text).digest('hex');
}
