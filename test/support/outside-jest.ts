import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { transformFile } from '@swc/core';

const SOURCES = [
  'src',
  'packages/interop/src',
  'packages/interop/test/scaling',
  'test/filter',
  'test/support',
];
/** Where each package is whose sources those are. */
const PACKAGES = { 'nestjs-bloom': '.', '@nestjs-bloom/interop': 'packages/interop' };

/**
 * The functions that a module of tests exports, in a thread outside Jest: in Jest's sandbox every mention of
 * a global (`Math`, `Uint8Array`) is slow, and the filter runs at a tenth of its speed.
 */
export class OutsideJest {
  private constructor(
    private readonly folder: string,
    private readonly worker: Worker,
  ) {}

  /** @param module its path without `.ts` */
  static async load(module: string): Promise<OutsideJest> {
    const folder = await mkdtemp(join(tmpdir(), 'nestjs-bloom-thread-'));
    for (const source of SOURCES) await compile(source, join(folder, source));
    for (const [name, home] of Object.entries(PACKAGES)) await install(folder, name, home);
    const entry = join(folder, 'entry.js');
    await writeFile(
      entry,
      `import { parentPort } from 'node:worker_threads';
       import * as functions from './${module}.js';
       parentPort.on('message', ({ name, input }) => parentPort.postMessage(functions[name](input)));`,
    );
    return new OutsideJest(folder, new Worker(entry));
  }

  /** One call at a time; input and result are copied. */
  async call<Result>(name: string, input: unknown): Promise<Result> {
    this.worker.postMessage({ name, input });
    const [result] = (await once(this.worker, 'message')) as [Result];
    return result;
  }

  async close(): Promise<void> {
    await this.worker.terminate();
    await rm(this.folder, { recursive: true, force: true });
  }
}

/** Lets imports by the name of a package find what was compiled in its place. */
async function install(folder: string, name: string, home: string): Promise<void> {
  const json = await readFile(join(home, 'package.json'), 'utf8');
  await writeFile(join(folder, home, 'package.json'), json.replaceAll('./dist/', './src/'));
  const link = join(folder, 'node_modules', name);
  await mkdir(dirname(link), { recursive: true });
  await symlink(join(folder, home), link);
}

async function compile(from: string, to: string): Promise<void> {
  for (const file of await readdir(from, { recursive: true })) {
    if (!file.endsWith('.ts') || file.endsWith('.spec.ts')) continue;
    const { code } = await transformFile(join(from, file), {
      jsc: { parser: { syntax: 'typescript', decorators: true }, target: 'es2022' },
      module: { type: 'es6' },
    });
    const compiled = join(to, file.replace(/\.ts$/, '.js'));
    await mkdir(dirname(compiled), { recursive: true });
    await writeFile(compiled, code);
  }
}
