import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve, sep } from 'node:path';
import { type Options, transformSync } from '@swc/core';

const ROOT = resolve('.');
const COMPILER: Options = {
  jsc: {
    parser: { syntax: 'typescript', decorators: true },
    transform: { legacyDecorator: true, decoratorMetadata: true },
    target: 'es2022',
    keepClassNames: true,
  },
  module: { type: 'es6' },
};

/** A folder of an application in which this package is installed as npm does it: compiled, and beside its dependencies. */
export interface InstalledPackage {
  readonly folder: string;
  /** The program of the command line. */
  readonly bin: string;
  remove(): void;
}

/** @param files sources of the application by path, compiled next to where they are */
export function installPackage(files: Readonly<Record<string, string>> = {}): InstalledPackage {
  const folder = mkdtempSync(join(tmpdir(), 'nestjs-bloom-cli-'));
  const modules = join(folder, 'node_modules');
  const home = join(modules, 'nestjs-bloom');
  mkdirSync(home, { recursive: true });
  for (const name of readdirSync(join(ROOT, 'node_modules'))) {
    if (!name.startsWith('.') && name !== 'nestjs-bloom')
      symlinkSync(join(ROOT, 'node_modules', name), join(modules, name));
  }
  writeFileSync(join(home, 'package.json'), readFileSync(join(ROOT, 'package.json')));
  for (const file of readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })) {
    if (file.endsWith('.ts'))
      compile(readFileSync(join(ROOT, 'src', file), 'utf8'), join(home, 'dist', file));
  }
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'shop', type: 'module' }));
  for (const [file, text] of Object.entries(files)) {
    const path = join(folder, ...file.split('/'));
    if (file.endsWith('.ts')) compile(text, path);
    else write(path, text);
  }
  const remove = () => rmSync(folder, { recursive: true, force: true });
  return { folder, bin: ['node_modules', 'nestjs-bloom', 'dist', 'cli', 'main.js'].join(sep), remove };
}

function compile(source: string, path: string): void {
  write(path.replace(/\.ts$/, '.js'), transformSync(source, { ...COMPILER, filename: path }).code);
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
