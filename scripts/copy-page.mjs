// Run by "npm run build": copies the page of the dashboard, which is served as it is, beside the compiled code of both kinds of modules.
import { cpSync, readdirSync, rmSync } from 'node:fs';
import { extname, join } from 'node:path';
import { root } from './packages.mjs';

const PAGE = 'integrations/dashboard/page';
const SERVED = ['.css', '.html', '.js', '.svg', '.txt'];

for (const dist of ['dist', 'dist/cjs']) {
  const target = join(root, dist, PAGE);
  rmSync(target, { recursive: true, force: true });
  for (const name of readdirSync(join(root, 'src', PAGE)))
    if (SERVED.includes(extname(name))) cpSync(join(root, 'src', PAGE, name), join(target, name));
}
