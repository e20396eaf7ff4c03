// "npm run build": compiles the core, then each wing against what the core exports, as ES modules into dist/ and once more as CommonJS into dist/cjs.
// The latter is for test runners that load modules themselves and cannot require() an ES module, such as Jest. Node loads the ES modules for import
// and for require() alike, by the condition "module-sync".
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { transformSync } from '@swc/core';
import ts from 'typescript';
import { run } from './pack.mjs';
import { root, wings } from './packages.mjs';

/** Types of libraries are read once for all wings. */
const parsed = new Map();

run(join(root, 'node_modules/.bin/nest'), ['build']);
addCommonJs(root);
for (const folder of wings) {
  rmSync(join(folder, 'dist'), { recursive: true, force: true });
  compile(folder);
  addCommonJs(folder);
}
run(process.execPath, [join(root, 'scripts/copy-page.mjs')]);

function compile(folder) {
  const config = {
    extends: join(root, 'tsconfig.build.json'),
    compilerOptions: { rootDir: 'src', outDir: 'dist' },
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

function addCommonJs(folder) {
  const dist = join(folder, 'dist');
  const target = join(dist, 'cjs');
  for (const entry of readdirSync(dist, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    const name = relative(dist, path);
    // The command line is no module that a test loads.
    if (!entry.isFile() || !name.endsWith('.js') || /^(cjs|cli)\//.test(name)) continue;
    const { code } = transformSync(readFileSync(path, 'utf8'), {
      filename: path,
      module: { type: 'commonjs' },
      jsc: { parser: { syntax: 'ecmascript' }, target: 'es2022' },
    });
    mkdirSync(dirname(join(target, name)), { recursive: true });
    writeFileSync(join(target, name), code.replace(/\n\/\/# sourceMappingURL=.*\s*$/, '\n'));
  }
  writeFileSync(join(target, 'package.json'), '{ "type": "commonjs" }\n');
}
