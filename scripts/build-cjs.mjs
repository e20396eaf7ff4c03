// Run by "npm run build": compiles dist once more as CommonJS, into dist/cjs, for test runners that load modules themselves and cannot
// require() an ES module, such as Jest. Node loads the ES modules for import and for require() alike, by the condition "module-sync".
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { transformSync } from '@swc/core';
import { root } from './pack.mjs';

const dist = join(root, 'dist');
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
