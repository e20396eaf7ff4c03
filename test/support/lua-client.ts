import type { Command, Redis } from 'ioredis';
import { Script } from '../../src/store/redis/client/script.js';
import { RedisStore, type RedisStoreOptions } from '../../src/store/redis/index.js';
import { changedScripts, type LuaSources } from './broken-lua.js';
import { luaSources } from './lua-sources.js';

/** What a test connects a store with: `lua` takes the place of the library's scripts. */
export type TestedStoreOptions = RedisStoreOptions & { readonly lua?: LuaSources | undefined };

/** A store whose client sends these scripts wherever the library sends its own. */
export async function connectStore({ lua, ...options }: TestedStoreOptions): Promise<RedisStore> {
  const store = await RedisStore.connect(options);
  if (!lua) return store;
  const { client } = (store as unknown as { connection: { client: { client: Redis } } }).connection.client;
  const replace = scriptReplacer(lua);
  const send = client.sendCommand.bind(client);
  client.sendCommand = (command, ...others) => {
    replace(command);
    return send(command, ...others);
  };
  return store;
}

/** Has commands run these scripts in the place of the library's. */
export function scriptReplacer(lua: LuaSources): (command: Command) => void {
  const replaced = new Map(
    changedScripts(lua).flatMap((name) => {
      const [own, other] = [luaSources, lua].map((sources) => new Script(name, sources[name].source));
      return [[own!.sha1, other!.sha1] as const, [own!.source, other!.source] as const];
    }),
  );
  return ({ name, args }) => {
    if (name === 'evalsha' || name === 'eval') args[0] = replaced.get(String(args[0])) ?? args[0]!;
  };
}
