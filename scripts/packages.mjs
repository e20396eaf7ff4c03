// The packages of this repository: the core in the root, and a wing in each folder of packages/.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url));

/** The folders of the wings, in a fixed order. */
export const wings = readdirSync(join(root, 'packages'))
  .toSorted()
  .map((name) => join(root, 'packages', name));

/** All packages, the core first: the others are compiled against what it exports. */
export const packages = [root, ...wings].map((folder) => ({
  folder,
  json: JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')),
}));
