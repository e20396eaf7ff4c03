// Loads every entry of the packages that are named, as an ES module and with require().
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import 'reflect-metadata';

const require = createRequire(import.meta.url);
for (const name of process.argv.slice(2)) {
  const entries = Object.keys(require(`${name}/package.json`).exports).filter(
    (path) => !path.endsWith('.json'),
  );
  for (const entry of entries.map((path) => name + path.slice(1))) {
    assert.equal(require(entry), await import(entry), entry);
    assert.notDeepEqual(Object.keys(require(entry)), [], entry);
  }
}
