// "npm run build": compiles the types of the core, then of each wing against what the core exports, and
// bundles what each entry needs, once as ES modules in dist/ and once as CommonJS in dist/cjs. The latter is
// for test runners that load modules themselves and cannot require() an ES module, such as Jest before Node
// 24.9. Node loads the ES modules for import and for require() alike, by the condition "module-sync".
import { copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { decode, encode } from '@jridgewell/sourcemap-codec';
import { rolldown } from 'rolldown';
import { rollup } from 'rollup';
import { dts } from 'rollup-plugin-dts';
import ts from 'typescript';
import { run } from './pack.mjs';
import { packages, root } from './packages.mjs';

/** The declarations of each module, until they are bundled. tsconfig.build.json names this folder as well. */
const DECLARATIONS = 'dist/declarations';
/** Where the sources of a version are, by the tag that the release makes. */
const SOURCES = 'https://raw.githubusercontent.com/nestjs-bloom/nestjs-bloom/nestjs-bloom';
/**
 * What several entries need is a file of its own: a class exists once, whichever entries an application uses.
 */
const SHARED = { minifyInternalExports: false, chunkFileNames: 'shared/[name].js' };
/** The types have the texts of the documentation. */
const CODE = { ...SHARED, comments: { jsdoc: false } };
const ESM = {
  ...CODE,
  format: 'es',
  sourcemap: true,
  sourcemapExcludeSources: true,
  sourcemapPathTransform: (path, map) => relative(root, join(dirname(map), path)),
};
// Nobody reads it, so local names are short.
const COMMONJS = {
  ...CODE,
  format: 'cjs',
  exports: 'named',
  minifyInternalExports: true,
  minify: {
    compress: { keepNames: { function: true, class: true } },
    mangle: { toplevel: true, keepNames: true },
    codegen: { removeWhitespace: true },
  },
};
/** Types of libraries are read once for all wings. */
const parsed = new Map();

for (const { folder, json } of packages) {
  rmSync(join(folder, 'dist'), { recursive: true, force: true });
  if (folder === root) run(join(root, 'node_modules/.bin/nest'), ['build']);
  else compile(folder);
  await bundle(folder, json);
  rmSync(join(folder, DECLARATIONS), { recursive: true });
  if (folder !== root) copyFileSync(join(root, 'LICENSE'), join(folder, 'LICENSE'));
}
run(process.execPath, [join(root, 'scripts/copy-page.mjs')]);

function compile(folder) {
  const config = {
    extends: join(root, 'tsconfig.build.json'),
    compilerOptions: { rootDir: 'src', outDir: DECLARATIONS },
    include: ['src'],
  };
  const { options, fileNames, errors } = ts.parseJsonConfigFileContent(config, ts.sys, folder);
  const host = ts.createCompilerHost(options);
  const read = host.getSourceFile;
  host.getSourceFile = (file, ...others) => {
    if (!parsed.has(file)) parsed.set(file, read.call(host, file, ...others));
    return parsed.get(file);
  };
  const program = ts.createProgram(fileNames, options, host);
  const problems = [...errors, ...ts.getPreEmitDiagnostics(program), ...program.emit().diagnostics];
  if (problems.length === 0) return;
  console.error(ts.formatDiagnosticsWithColorAndContext(problems, host));
  throw new Error(`${relative(root, folder)} does not compile: ${problems.length} errors.`);
}

async function bundle(folder, { exports, bin = {}, version }) {
  const exported = Object.values(exports).flatMap((entry) => entry.import ?? []);
  const programs = Object.values(bin);
  const dist = join(folder, 'dist');
  const modules = await codeOf(folder, [...exported, ...programs]);
  const { output } = await modules.write({ ...ESM, dir: dist });
  for (const { fileName, code } of output) {
    if (fileName.endsWith('.map')) keepLines(join(dist, fileName), `${SOURCES}@${version}/`);
    // The map says from which file a line is.
    if (code) writeFileSync(join(dist, fileName), code.replace(/^\/\/ src\/.*\.ts$/gm, ''));
    const [renamed] = /\bclass \w+\$\d+/.exec(code) ?? [];
    if (renamed)
      throw new Error(`Expected classes with names of their own, since messages have them, got ${renamed}.`);
  }
  if (exported.length === 0) return;
  // A program is no module that a test loads.
  const commonJs = programs.length === 0 ? modules : await codeOf(folder, exported);
  await commonJs.write({ ...COMMONJS, dir: join(dist, 'cjs') });
  writeFileSync(join(dist, 'cjs/package.json'), '{ "type": "commonjs" }\n');
  const types = await rollup({
    input: inputs(exported, (name) => join(folder, DECLARATIONS, `${name}.d.ts`)),
    external: isOfOthers,
    plugins: [dts()],
    // Types that no entry exports: check:api judges those of the entries for users.
    onwarn: (problem) => problem.plugin === 'dts' || refuse(problem),
  });
  await types.write({ ...SHARED, chunkFileNames: 'shared/[name].ts', dir: dist });
  if (folder === root) withoutTexts(join(dist, 'internal-entry.d.ts'));
}

/** Its types are for wings alone, whose authors read the sources. */
function withoutTexts(file) {
  writeFileSync(file, readFileSync(file, 'utf8').replace(/\/\*\*.*?\*\/\s*/gs, ''));
}

function codeOf(folder, files) {
  return rolldown({
    input: inputs(files, (name) => join(folder, 'src', `${name}.ts`)),
    external: isOfOthers,
    platform: 'node',
    tsconfig: join(root, 'tsconfig.build.json'),
    transform: { target: 'es2023' },
    onLog: (_, problem) => refuse(problem),
  });
}

/** `./dist/testing/index.js` is the bundle `testing/index` of what a source file of this name needs. */
function inputs(files, sourceOf) {
  const names = files.map((file) => /^\.\/dist\/(.*)\.js$/.exec(file)[1]);
  return Object.fromEntries(names.map((name) => [name, sourceOf(name)]));
}

/** The bundler brings the helpers by which decorators work. */
function isOfOthers(id) {
  return !/^[./\0]|^@oxc-project\/runtime\//.test(id);
}

function refuse({ message }) {
  throw new Error(`A package cannot be bundled: ${message}`);
}

/**
 * A place leads to its line, from wherever on it: columns would be twice as many bytes. Names are of the
 * source.
 */
function keepLines(file, sourceRoot) {
  const map = JSON.parse(readFileSync(file, 'utf8'));
  const isNewLine = ([, source, line], before) => source !== before?.[1] || line !== before[2];
  const lines = decode(map.mappings).map((places) =>
    places
      .filter((place, index) => isNewLine(place, places[index - 1]))
      .map(([column, source, line], index) => [index === 0 ? 0 : column, source, line, 0]),
  );
  writeFileSync(file, JSON.stringify({ ...map, sourceRoot, names: [], mappings: encode(lines) }));
}
