// Writes src/store/redis/scripts.generated.ts from src/store/redis/lua/*.lua ("npm run generate"): the scripts are part
// of the package's JavaScript and never read from disk at run time. --check only tells whether the file is up to date.
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { embed, root } from './embed.mjs';

const FOLDER = 'src/store/redis/lua';

const files = readdirSync(join(root, FOLDER)).filter((file) => file.endsWith('.lua'));
const entries = files.sort().map((file) => {
  const name = basename(file, '.lua').replace(/[-_](.)/g, (_, letter) => letter.toUpperCase());
  const source = readFileSync(join(root, FOLDER, file), 'utf8').replaceAll('\r\n', '\n');
  return `  ${name}: {\n    source: \`${source.replace(/[\\`]|\$\{/g, '\\$&')}\`,\n  },\n`;
});

embed({
  target: 'src/store/redis/scripts.generated.ts',
  from: `${FOLDER}/*.lua`,
  code: `export const luaSources = {\n${entries.join('')}};\n`,
});
