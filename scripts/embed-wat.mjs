// Writes src/filter/peers/hash/wasm.generated.ts from src/filter/peers/hash/wat/*.wat ("npm run generate"): the modules are part of the
// package's JavaScript and never read from disk at run time. --check only tells whether the file is up to date.
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import wabt from 'wabt';
import { embed, root } from './embed.mjs';

const FOLDER = 'src/filter/peers/hash/wat';

const { parseWat } = await wabt();

const files = readdirSync(join(root, FOLDER)).filter((file) => file.endsWith('.wat'));
const entries = files.sort().map((file) => {
  const name = basename(file, '.wat').replace(/-(.)/g, (_, letter) => letter.toUpperCase());
  const module = parseWat(file, readFileSync(join(root, FOLDER, file), 'utf8'), { simd: true });
  module.validate();
  return `  ${name}: '${Buffer.from(module.toBinary({}).buffer).toString('base64')}',\n`;
});

embed({
  target: 'src/filter/peers/hash/wasm.generated.ts',
  from: `${FOLDER}/*.wat`,
  code: `export const wasmModules = {\n${entries.join('')}};\n`,
});
