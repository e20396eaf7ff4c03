// Loads every entry of the package in an application that has none of the optional peers.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import 'reflect-metadata';

const require = createRequire(import.meta.url);
const { exports, peerDependenciesMeta } = require('nestjs-bloom/package.json');
for (const peer of Object.keys(peerDependenciesMeta))
  assert.throws(() => require.resolve(peer), { code: 'MODULE_NOT_FOUND' }, `${peer} is installed`);

for (const path of Object.keys(exports).filter((one) => !one.endsWith('.json'))) {
  const entry = `nestjs-bloom${path.slice(1)}`;
  await import(entry);
  require(entry);
}
