// Writes each wasm.generated.ts from the wat/*.wat beside it ("npm run generate"): the modules are part of
// the package's JavaScript and never read from disk at run time. --check only tells whether the files are up
// to date.
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import wabt from 'wabt';
import { embed, root } from './embed.mjs';

const FOLDERS = ['src/filter', 'packages/interop/src/formats/hash', 'packages/postgres/src'];

const { parseWat } = await wabt();

for (const folder of FOLDERS) {
  const from = `${folder}/wat`;
  const files = readdirSync(join(root, from)).filter((file) => file.endsWith('.wat'));
  const entries = files.sort().map((file) => {
    const name = basename(file, '.wat').replace(/-(.)/g, (_, letter) => letter.toUpperCase());
    const module = parseWat(file, readFileSync(join(root, from, file), 'utf8'), { simd: true });
    module.validate();
    return `  ${name}: '${Buffer.from(module.toBinary({}).buffer).toString('base64')}',\n`;
  });
  embed({
    target: `${folder}/wasm.generated.ts`,
    from: `${from}/*.wat`,
    code: `export const wasmModules = {\n${entries.join('')}};\n`,
  });
}
