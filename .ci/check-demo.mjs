// The figures that "npm run demo -- --exit --json" printed: one JSON object, and no wrong answer in any phase.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';

const { phases } = JSON.parse(readFileSync(process.argv[2], 'utf8'));
assert.ok(phases.length >= 4, `expected four phases, got ${phases.length}`);
for (const { name, requests, wrongAbsent } of phases) {
  assert.ok(requests > 0, `${name}: no requests`);
  assert.equal(wrongAbsent, 0, `${name}: wrong absents`);
}
