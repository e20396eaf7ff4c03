// Each folder of examples/ is an application of its own, whose tests run on the packed package.
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root, run } from '../../scripts/pack.mjs';

const EXAMPLES = join(root, 'examples');

export function testExamples(folder, tarball) {
  const names = readdirSync(EXAMPLES, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);
  if (names.length === 0) throw new Error(`Expected examples in ${EXAMPLES}, found none.`);
  for (const name of names) {
    const home = join(folder, `example-${name}`);
    cpSync(join(EXAMPLES, name), home, {
      recursive: true,
      filter: (path) => !path.includes(`${name}/node_modules`),
    });
    const json = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8'));
    json.dependencies['nestjs-bloom'] = `file:${tarball}`;
    writeFileSync(join(home, 'package.json'), JSON.stringify(json, null, 2));
    console.log(`\nexamples/${name}: install`);
    run('npm', ['install', '--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error'], { cwd: home });
    run('npm', ['test'], { cwd: home, timeout: 120_000 });
    console.log(`examples/${name}: works`);
  }
}
