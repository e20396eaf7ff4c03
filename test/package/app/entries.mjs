// Loads every entry of the package in an application that has none of the optional peers.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import 'reflect-metadata';

const require = createRequire(import.meta.url);
/** Entries that are of no use without the library whose classes they take: the error names it. */
const LIBRARIES = {
  throttler: '@nestjs/throttler',
};

const { exports, peerDependenciesMeta } = require('nestjs-bloom/package.json');
for (const peer of Object.keys(peerDependenciesMeta))
  assert.throws(() => require.resolve(peer), { code: 'MODULE_NOT_FOUND' }, `${peer} is installed`);

for (const path of Object.keys(exports)) {
  const entry = `nestjs-bloom${path.slice(1)}`;
  const library = LIBRARIES[path.slice(2)];
  if (path.endsWith('.json')) continue;
  if (library === undefined) {
    await import(entry);
    require(entry);
    continue;
  }
  const named = new RegExp(`^Cannot find package '${library}' imported from .*nestjs-bloom`);
  await assert.rejects(import(entry), { code: 'ERR_MODULE_NOT_FOUND', message: named });
  assert.throws(() => require(entry), { code: 'ERR_MODULE_NOT_FOUND', message: named });
}
