// Each folder of examples/ is an application of its own, which runs on the packed packages.
import { deepEqual } from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '../../scripts/pack.mjs';
import { root } from '../../scripts/packages.mjs';

const EXAMPLES = join(root, 'examples');
export const INSTALL = ['install', '--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error'];
/** The engine is not run, and Prisma would download it. */
const WITHOUT_ENGINE = { PRISMA_SCHEMA_ENGINE_BINARY: '/bin/true', CHECKPOINT_DISABLE: '1' };
const AT_ONCE = 3;
const TYPESCRIPT = join(root, 'node_modules/typescript/bin/tsc');

/** Those with a script "test" have a runner of their own, so each is installed by itself. */
export function testExamples(folder, tarballs) {
  for (const name of examplesWith('test')) {
    const home = join(folder, `example-${name}`);
    copy(name, home);
    const json = packageOf(name);
    json.dependencies = packed(json.dependencies, tarballs);
    writeFileSync(join(home, 'package.json'), JSON.stringify(json, null, 2));
    console.log(`\nexamples/${name}: install`);
    run('npm', INSTALL, { cwd: home });
    run('npm', ['test'], { cwd: home, timeout: 120_000 });
    console.log(`examples/${name}: works`);
  }
}

/**
 * Those with a script "e2e" share one installation, and are started and asked, each on databases of its own.
 */
export async function runExamples(folder, tarballs, { redis, postgres }) {
  const home = join(folder, 'running-examples');
  const names = examplesWith('e2e');
  installTogether(home, names, tarballs);
  for (const name of names) {
    copy(name, join(home, name));
    if (packageOf(name).scripts.generate)
      run('npm', ['run', '-s', 'generate'], {
        cwd: join(home, name),
        env: { ...process.env, ...WITHOUT_ENGINE },
        timeout: 120_000,
      });
  }
  await checkTypes(home, names);
  // A few at a time: an add that waits too long for a busy machine is refused.
  const started = names.filter(canStart);
  for (let first = 0; first < started.length; first += AT_ONCE) {
    const some = started.slice(first, first + AT_ONCE);
    const runs = some.map((name, index) =>
      runExample(home, name, { redis, postgres, number: first + index }),
    );
    // What goes on is waited for: it uses the servers of this process.
    const failed = (await Promise.allSettled(runs)).find(({ status }) => status === 'rejected');
    if (failed) throw failed.reason;
  }
}

/** An example may need a server that the tests cannot start. */
function canStart(name) {
  const variable = packageOf(name).config?.server;
  if (variable === undefined || process.env[variable]) return true;
  console.log(
    `examples/${name}: its types are right; it was NOT STARTED, since ${variable} gives no address of a server`,
  );
  return false;
}

async function runExample(home, name, { redis, postgres, number }) {
  const database = name.replaceAll('-', '_');
  await postgres.run(`CREATE DATABASE ${database}`);
  const env = {
    ...process.env,
    REDIS_URL: `${redis.url}/${number + 1}`,
    DATABASE_URL: String(new URL(`/${database}`, postgres.url)),
    MONGODB_URL: process.env.BLOOM_TEST_MONGODB_URL ?? '',
    // A lookup that waits longer goes through, and the database would be asked for an absent id.
    BLOOM_TIMEOUT_MS: '10000',
  };
  await runProgram('npm', ['run', '-s', 'e2e'], { cwd: join(home, name), env });
  console.log(`examples/${name}: works`);
}

/** All at once, since most of the time goes into the types of the packages. */
async function checkTypes(home, names) {
  const [options, ...others] = names.map(
    (name) => JSON.parse(readFileSync(join(EXAMPLES, name, 'tsconfig.json'), 'utf8')).compilerOptions,
  );
  for (const other of others) deepEqual(other, options, 'the compiler options of two examples differ');
  const include = names.map((name) => `${name}/**/*.ts`);
  writeFileSync(join(home, 'tsconfig.json'), JSON.stringify({ compilerOptions: options, include }));
  await runProgram(process.execPath, [TYPESCRIPT, '-p', home], { cwd: home });
  console.log('examples: their types are right');
}

function examplesWith(script) {
  const names = readdirSync(EXAMPLES, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && packageOf(entry.name).scripts[script])
    .map(({ name }) => name);
  if (names.length === 0)
    throw new Error(`Expected examples with a script "${script}" in ${EXAMPLES}, found none.`);
  return names;
}

function packageOf(name) {
  return JSON.parse(readFileSync(join(EXAMPLES, name, 'package.json'), 'utf8'));
}

function copy(name, home) {
  cpSync(join(EXAMPLES, name), home, {
    recursive: true,
    filter: (path) => !path.includes(`${name}/node_modules`),
  });
}

/** With the tarball for each package of this repository. */
function packed(dependencies, tarballs) {
  return Object.fromEntries(
    Object.entries(dependencies).map(([name, range]) => [name, tarballs[name] ?? range]),
  );
}

/** One folder of packages above all examples. Two of them may not ask for different versions of one. */
function installTogether(home, names, tarballs) {
  const together = { name: 'examples', private: true, type: 'module', dependencies: {}, overrides: {} };
  for (const name of names) {
    const { dependencies, devDependencies, overrides } = packageOf(name);
    for (const [dependency, range] of Object.entries({ ...dependencies, ...devDependencies })) {
      const other = together.dependencies[dependency];
      if (other !== undefined && other !== range)
        throw new Error(`examples/${name} asks for ${dependency} ${range}, another example for ${other}.`);
      together.dependencies[dependency] = range;
    }
    Object.assign(together.overrides, overrides);
  }
  together.dependencies = packed(together.dependencies, tarballs);
  mkdirSync(home);
  writeFileSync(join(home, 'package.json'), JSON.stringify(together, null, 2));
  console.log(`\nexamples/{${names.join(',')}}: install`);
  run('npm', [...INSTALL, '--ignore-scripts'], { cwd: home });
}

/** As `run`, beside other programs. */
export async function runProgram(program, args, options) {
  const child = spawn(program, args, { stdio: 'inherit', timeout: 180_000, ...options });
  const [code, signal] = await once(child, 'exit');
  if (code !== 0)
    throw new Error(
      `"${[program, ...args].join(' ')}" in ${options.cwd} failed: ${signal ?? `exit code ${code}`}`,
    );
}
