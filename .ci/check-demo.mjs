// Runs the demo and checks what it prints: one JSON object and nothing else, and no wrong answer in any
// phase.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';

const args = ['run', '--silent', 'demo', '--', '--exit', '--json'];
const { status, stdout } = spawnSync('npm', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
console.log(stdout);
assert.equal(status, 0, `"npm ${args.join(' ')}" ended with ${status}`);

const { phases } = JSON.parse(stdout);
assert.equal(phases.length, 6, 'phases');
for (const { name, requests, wrongAbsent } of phases) {
  assert.ok(requests > 0, `${name}: no requests`);
  assert.equal(wrongAbsent, 0, `${name}: wrong absents`);
}
