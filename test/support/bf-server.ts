import { describe } from '@jest/globals';
import { BF_ARGUMENTS, HOW_TO_HAVE_BF } from './bf-arguments.js';
import { luaSources } from './lua-sources.js';
import { RedisFixture } from './redis-fixture.js';

/** A server with `BF.*` that runs already. */
const URL = process.env.BLOOM_TEST_BF_URL;

/** Tests that need a server with `BF.*`; without one they are skipped, and say so. */
export function describeBf(name: string, tests: () => void): void {
  describeIf(URL !== undefined || BF_ARGUMENTS !== undefined, name, tests);
}

/** Tests that stop, restart or empty a server with `BF.*`: one that they start themselves. */
export function describeOwnBf(name: string, tests: () => void): void {
  describeIf(BF_ARGUMENTS !== undefined, name, tests);
}

/** A server with `BF.*` that may be shared with others: only keys of the test's own names may be written. */
export async function bfFixture(): Promise<RedisFixture> {
  return BF_ARGUMENTS ? ownBfFixture() : RedisFixture.at(URL!);
}

export function ownBfFixture(args: readonly string[] = []): Promise<RedisFixture> {
  return RedisFixture.start([...BF_ARGUMENTS!, ...args]);
}

function describeIf(isThere: boolean, name: string, tests: () => void): void {
  if (isThere) {
    describe(name, tests);
    return;
  }
  const skipped = `${name} (SKIPPED: no server with BF.*)`;
  // Not console.warn: of a file that is skipped whole Jest tells nothing.
  process.stderr.write(`\n${skipped}. ${HOW_TO_HAVE_BF}\n`);
  describe.skip(skipped, tests);
}

/**
 * The library's Lua, to which every server seems to be one without `BF.LOADCHUNK`, as one with valkey-bloom
 * is.
 */
export function luaWithoutLoadChunk(): typeof luaSources {
  const { source } = luaSources.bfCommands;
  const blind = source.replace(
    'redis.pcall(command,',
    "redis.pcall(command == 'BF.LOADCHUNK' and 'BF.NONE' or command,",
  );
  if (blind === source) throw new Error('The script bfCommands calls commands otherwise.');
  const load = { source: "return redis.error_reply('ERR unknown command')" };
  return { ...luaSources, bfCommands: { source: blind }, bfLoad: load };
}
