// Run by "npm run build": copies the page of the dashboard, which is served as it is, beside the compiled
// code of both kinds of modules.
import { cpSync, readdirSync, rmSync } from 'node:fs';
import { extname, join } from 'node:path';
import { root } from './packages.mjs';

const WING = join(root, 'packages/dashboard');
const SERVED = ['.css', '.html', '.js', '.svg', '.txt'];

for (const dist of ['dist', 'dist/cjs']) {
  const target = join(WING, dist, 'page');
  rmSync(target, { recursive: true, force: true });
  for (const name of readdirSync(join(WING, 'src/page')))
    if (SERVED.includes(extname(name))) cpSync(join(WING, 'src/page', name), join(target, name));
}
