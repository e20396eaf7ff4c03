// Run by "npm run check:package": packs all packages and checks each tarball with publint and "are the types
// wrong".
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { pack, run, temporaryFolder } from './pack.mjs';
import { root } from './packages.mjs';

const folder = temporaryFolder();
try {
  for (const tarball of Object.values(pack(folder))) await check(tarball.slice('file:'.length));
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function check(tarball) {
  const { messages, pkg } = await publint({ pack: { tarball: bytesOf(tarball) }, strict: true });
  const problems = messages.filter((message) => !isOfOtherLoaders(message));
  for (const problem of problems) console.error(formatMessage(problem, pkg));
  if (problems.length > 0) throw new Error(`publint: expected no problem, found ${problems.length}.`);
  // The command line is a program without an entry.
  if (!pkg.types) return;
  // "false-esm" is what isOfOtherLoaders leaves out of publint's problems. CommonJS resolves to ES modules:
  // Node loads them with require().
  run(join(root, 'node_modules/.bin/attw'), [tarball, '--ignore-rules', 'false-esm', 'cjs-resolves-to-esm']);
}

/**
 * That the types are those of ES modules also where "require" is resolved. ES modules are what Node loads
 * then, by "module-sync"; the loaders that take "require" read no types.
 */
function isOfOtherLoaders({ code, path }) {
  return code === 'EXPORTS_TYPES_INVALID_FORMAT' && path.at(-1) === 'types';
}

function bytesOf(path) {
  const { buffer, byteOffset, byteLength } = readFileSync(path);
  return buffer.slice(byteOffset, byteOffset + byteLength);
}
