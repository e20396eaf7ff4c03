// Run by "npm run check:package": packs the package and checks the tarball with publint and "are the types wrong".
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { pack, root, run, temporaryFolder } from './pack.mjs';

const folder = temporaryFolder();
try {
  const tarball = pack(folder);
  const bin = join(root, 'node_modules', '.bin');
  run(join(bin, 'publint'), [tarball, '--strict']);
  run(join(bin, 'attw'), [tarball, '--profile', 'esm-only']);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
