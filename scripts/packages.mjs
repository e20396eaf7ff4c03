// The packages of this repository: the core in the root, and a wing in each folder of packages/.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url));

/** All packages, in an order in which each can be compiled against what those before it export. */
export const packages = [
  root,
  ...readdirSync(join(root, 'packages'))
    .toSorted()
    .map((name) => join(root, 'packages', name)),
]
  .map((folder) => ({ folder, json: JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) }))
  .toSorted((one, other) => Number(usesWing(one)) - Number(usesWing(other)));

/** The folders of the wings, in that order. */
export const wings = packages.map(({ folder }) => folder).filter((folder) => folder !== root);

function usesWing({ json }) {
  return Object.keys(json.dependencies ?? {}).some((name) => name.startsWith('@nestjs-bloom/'));
}
