import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const BUILT = fileURLToPath(new URL('../../.tools/redisbloom/redisbloom.so', import.meta.url));
const given = process.env.BLOOM_TEST_BF_ARGS?.split(' ').filter(Boolean);

/**
 * With which redis-server has `BF.*` and `CF.*`, or undefined: those of the environment, else the module that
 * `npm run redisbloom` has built.
 */
export const BF_ARGUMENTS: readonly string[] | undefined =
  given ?? (existsSync(BUILT) ? ['--loadmodule', BUILT] : undefined);

/** Where there is none. */
export const HOW_TO_HAVE_BF =
  'To run them: npm run redisbloom, which builds the module; or BLOOM_TEST_BF_ARGS="--loadmodule /path/redisbloom.so", the arguments with ' +
  'which redis-server has them (REDIS_SERVER names its program).';
