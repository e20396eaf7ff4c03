// A CommonJS program that has never heard of ESM.
const assert = require('node:assert/strict');
const { dirname, join } = require('node:path');
require('reflect-metadata');
const { BloomModule, BloomGuarded, BloomConfigError } = require('nestjs-bloom');
const { planFilter } = require('nestjs-bloom/filter');
const { BloomDashboardModule } = require('@nestjs-bloom/dashboard');
const { BloomTestingModule } = require('nestjs-bloom/testing');

assert.equal(BloomModule.forRoot().module, BloomModule);
assert.equal(typeof BloomGuarded('products'), 'function');
assert.equal(BloomTestingModule.of({ products: ['a'] }).module, BloomModule);
assert.equal(BloomDashboardModule.forRoot({ insecure: true }).module, BloomDashboardModule);
// The build for loaders that know no ES modules finds the files of the page as well.
const folder = dirname(require.resolve('@nestjs-bloom/dashboard/package.json'));
const { BloomDashboardModule: Compiled } = require(join(folder, 'dist/cjs/index.js'));
const [settings, , dashboard] = Compiled.forRoot({ insecure: true }).providers;
settings
  .useFactory()
  .then((its) => assert.match(dashboard.useFactory(its, {}).files.page('t').body, /content="t"/));
assert.equal(planFilter({ capacity: 1, errorRate: 0.001 }).blocks, 1);
assert.throws(() => planFilter({ capacity: 0, errorRate: 0.001 }), BloomConfigError);

// However it is loaded, there is one copy of it, and so one registry of what decorators have named.
import('nestjs-bloom').then((imported) => assert.equal(imported.BloomModule, BloomModule));
