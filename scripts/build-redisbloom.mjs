// npm run redisbloom [-- FOLDER]: compiles RedisBloom, so that the tests of BF.* and CF.* run too. Needs git
// (or FOLDER, a clone of RedisBloom with its submodules) and a C compiler. The tests find what it has built.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const VERSION = 'v2.8.20';
const REPOSITORY = 'https://github.com/RedisBloom/RedisBloom.git';
const SUBMODULES = ['deps/RedisModulesSDK', 'deps/t-digest-c'];
const SOURCES = [
  ...['bloom/bloom', 'murmur2/MurmurHash2', 'rmutil/util', 't-digest-c/src/tdigest'].map(
    (name) => `deps/${name}.c`,
  ),
  ...['rebloom', 'sb', 'cf', 'rm_topk', 'rm_tdigest', 'topk', 'rm_cms', 'cms'].map((name) => `src/${name}.c`),
];
const INCLUDES = ['.', 'src', 'deps', 'deps/RedisModulesSDK', 'deps/murmur2', 'deps/t-digest-c/src'];
const DEFINITIONS = [
  '_GNU_SOURCE',
  // The headers for a debugger are in another submodule.
  'NDEBUG',
  'REDIS_MODULE_TARGET',
  'REDISMODULE_SDK_RLEC',
  'TD_MALLOC_INCLUDE="td_redismodule_malloc.h"',
  `REDISBLOOM_GIT_SHA="${VERSION}"`,
];

const folder = join(import.meta.dirname, '../.tools/redisbloom');
const built = join(folder, 'redisbloom.so');
const given = process.argv[2];

function run(program, args, cwd) {
  console.error(`${program} ${args.slice(0, 4).join(' ')}${args.length > 4 ? ' …' : ''}`);
  execFileSync(program, args, { cwd, stdio: ['ignore', 2, 2] });
}

function fetchSources() {
  const sources = join(folder, VERSION);
  if (existsSync(join(sources, 'deps/t-digest-c/src/tdigest.c'))) return sources;
  rmSync(sources, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  run('git', ['clone', '--quiet', '--depth', '1', '--branch', VERSION, REPOSITORY, sources]);
  run('git', ['submodule', '--quiet', 'update', '--init', '--depth', '1', ...SUBMODULES], sources);
  return sources;
}

try {
  const sources = given ?? fetchSources();
  mkdirSync(folder, { recursive: true });
  const flags = ['-shared', '-fPIC', '-O2', '-std=gnu99', '-w'];
  const paths = INCLUDES.map((path) => `-I${path}`);
  const names = DEFINITIONS.map((name) => `-D${name}`);
  run(process.env.CC ?? 'cc', [...flags, ...names, ...paths, ...SOURCES, '-lm', '-o', built], sources);
  console.error(
    `Built ${built}. npm test and npm run faults load it, unless BLOOM_TEST_BF_ARGS says otherwise.`,
  );
} catch (error) {
  rmSync(built, { force: true });
  console.error(
    `RedisBloom ${VERSION} was not built: ${error.message}\nIt needs git, the network and a C compiler. Or load a module that you have: ` +
      'BLOOM_TEST_BF_ARGS="--loadmodule /path/redisbloom.so" npm test',
  );
  process.exitCode = 1;
}
