// Run by "npm run test:package": installs the packed tarballs into empty Nest applications, as a user would,
// and guards a route and a repository there. Needs the npm registry.
import { throws } from 'node:assert/strict';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pack, run, temporaryFolder } from '../../scripts/pack.mjs';
import { root } from '../../scripts/packages.mjs';
import { requirePostgres } from '../support/postgres-server.js';
import { startRedis } from '../support/redis-server.js';
import { INSTALL, runExamples, testExamples } from './examples.mjs';
import { checkContents, installBesideOthers, resolveRanges } from './installs.mjs';
import { followQuickStart } from './quick-start.mjs';

const APPS = [
  {
    name: 'Nest 12, Express, ioredis 6, ES modules',
    type: 'module',
    main: 'main-express',
    throttled: 'throttled-express',
    observed: 'observed-express',
    dependencies: {
      '@nestjs/common': '^12.0.0',
      '@nestjs/core': '^12.0.0',
      '@nestjs/platform-express': '^12.0.0',
      '@nestjs/schedule': '^12.0.0',
      '@nestjs/throttler': '^6.0.0',
      cron: '^4.0.0',
      ioredis: '^6.0.0',
    },
  },
  {
    name: 'Nest 11, Fastify, ioredis 5, CommonJS',
    type: 'commonjs',
    main: 'main-fastify',
    throttled: 'throttled-fastify',
    observed: 'observed-fastify',
    dependencies: {
      '@nestjs/common': '^11.0.0',
      '@nestjs/core': '^11.0.0',
      '@nestjs/platform-fastify': '^11.0.0',
      '@nestjs/schedule': '^6.0.0',
      '@nestjs/throttler': '^6.0.0',
      cron: '^4.0.0',
      ioredis: '^5.4.1',
    },
  },
  {
    name: 'Nest 10, Express, ioredis 5, CommonJS',
    isShownToTools: false,
    type: 'commonjs',
    main: 'main-express',
    throttled: 'throttled-express',
    observed: 'observed-express',
    dependencies: {
      '@nestjs/common': '^10.3.2',
      '@nestjs/core': '^10.3.2',
      '@nestjs/platform-express': '^10.3.2',
      '@nestjs/schedule': '^6.0.0',
      '@nestjs/throttler': '^6.0.0',
      cron: '^4.0.0',
      ioredis: '^5.4.1',
    },
  },
];

/** What the applications use. */
const PACKAGES = [
  'nestjs-bloom',
  '@nestjs-bloom/cli',
  '@nestjs-bloom/dashboard',
  '@nestjs-bloom/interop',
  '@nestjs-bloom/opentelemetry',
  '@nestjs-bloom/prometheus',
  '@nestjs-bloom/throttler',
];

/** What `observed.ts` needs besides, in an application of either version of Nest. */
const OBSERVERS = {
  '@opentelemetry/api': '^1.9.0',
  '@opentelemetry/sdk-metrics': '^2.0.0',
  '@opentelemetry/sdk-trace-base': '^2.0.0',
  'prom-client': '^15.0.0',
};

const COMPILER_OPTIONS = {
  target: 'es2022',
  module: 'nodenext',
  strict: true,
  experimentalDecorators: true,
  emitDecoratorMetadata: true,
  isolatedModules: true,
  skipLibCheck: false,
  types: ['node'],
  outDir: 'dist',
  rootDir: '.',
};

const folder = temporaryFolder();
const redis = await startRedis();
const postgres = await requirePostgres();
try {
  const tarballs = pack(folder);
  checkContents(tarballs);
  installBesideOthers(join(folder, 'beside'), tarballs);
  await resolveRanges(join(folder, 'ranges'), tarballs);
  for (const [index, app] of APPS.entries()) {
    const home = join(folder, `app-${index}`);
    console.log(`\n${app.name}: install`);
    install(home, app, tarballs);
    console.log(`${app.name}: compile`);
    run(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', home], { cwd: home });
    const environment = { ...process.env, REDIS_URL: '' };
    runInApp('in the process', [`dist/${app.main}.js`], environment);
    runInApp('on Redis', [`dist/${app.main}.js`], { ...environment, REDIS_URL: redis.url });
    runInApp('loaded with require()', ['required.cjs'], environment);
    runInApp('with @nestjs/throttler', [`dist/${app.throttled}.js`], environment);
    runInApp('observed by Prometheus and OpenTelemetry', [`dist/${app.observed}.js`], environment);
    runBin('plan', ['plan', '1e6', '0.001'], environment);
    const onRedis = { ...environment, REDIS_URL: redis.url };
    const shop = ['--app', 'dist/shop.js'];
    const rebuild = ['rebuild', 'products', ...shop, '--export', 'ShopModule'];
    if (app.isShownToTools !== false) runBin('rebuild', rebuild, onRedis);
    else throws(() => runBin('rebuild', rebuild, onRedis), /exit code 1/);
    runBin('check', ['check', 'products', 'A-1'], onRedis);
    runBin('doctor', ['doctor', 'products'], onRedis);
    rmSync(join(home, 'node_modules/ioredis'), { recursive: true });
    runInApp('in the process, without ioredis', [`dist/${app.main}.js`], environment);
    for (const optional of ['@nestjs/schedule', 'cron'])
      rmSync(join(home, 'node_modules', optional), { recursive: true });
    runInApp('loaded with require(), without @nestjs/schedule and cron', ['required.cjs'], environment);
    runInApp('every entry, without optional peers', ['entries.mjs'], environment);

    function runInApp(what, args, env) {
      run(process.execPath, ['--no-warnings=ExperimentalWarning', ...args], {
        cwd: home,
        env,
        timeout: 180_000,
      });
      console.log(`${app.name}: works ${what}`);
    }
    /** As "npx @nestjs-bloom/cli" runs it. */
    function runBin(what, args, env) {
      run(join(home, 'node_modules/.bin/nestjs-bloom'), args, { cwd: home, env, timeout: 180_000 });
      console.log(`${app.name}: nestjs-bloom ${what} works`);
    }
    // The next application builds its filter itself.
    await redis.restart();
  }
  for (const nest of [11, 12])
    await followQuickStart(join(folder, `quick-start-${nest}`), tarballs, { postgres, nest });
  loadWings(join(folder, 'wings'), tarballs);
  testExamples(folder, tarballs);
  await runExamples(folder, tarballs, { redis, postgres });
} finally {
  await redis.stop();
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
}

function install(home, { main, throttled, observed, type, dependencies }, tarballs) {
  mkdirSync(home);
  cpSync(join(root, 'test/package/app'), home, { recursive: true });
  const json = {
    name: 'an-application',
    private: true,
    type,
    dependencies: {
      ...dependencies,
      ...OBSERVERS,
      ...Object.fromEntries(PACKAGES.map((name) => [name, tarballs[name]])),
      'reflect-metadata': '^0.2.0',
      rxjs: '^7.8.0',
    },
    devDependencies: { '@types/node': '^20.0.0' },
  };
  writeFileSync(join(home, 'package.json'), JSON.stringify(json, null, 2));
  writeFileSync(
    join(home, 'tsconfig.json'),
    JSON.stringify({
      compilerOptions: COMPILER_OPTIONS,
      files: [`${main}.ts`, `${throttled}.ts`, `${observed}.ts`],
    }),
  );
  run('npm', INSTALL, { cwd: home });
}

/** All wings in one application, each beside the library that it is for, which npm installs as its peer. */
function loadWings(home, tarballs) {
  console.log('\nAll wings: install');
  mkdirSync(home);
  cpSync(join(root, 'test/package/app/every-wing.mjs'), join(home, 'every-wing.mjs'));
  const dependencies = {
    ...tarballs,
    'pg-logical-replication': '^2.2.0',
    ...APPS[0].dependencies,
    'reflect-metadata': '^0.2.0',
    rxjs: '^7.8.0',
  };
  const { overrides } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  writeFileSync(join(home, 'package.json'), JSON.stringify({ private: true, dependencies, overrides }));
  run('npm', [...INSTALL, '--ignore-scripts'], { cwd: home });
  run(
    process.execPath,
    ['--no-warnings', 'every-wing.mjs', ...Object.keys(tarballs).filter((name) => name !== 'nestjs-bloom')],
    { cwd: home },
  );
  console.log('All wings: every entry can be imported and required');
}
