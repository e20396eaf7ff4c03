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

/** Where each package is that is installed. */
const PACKAGES = {
  'nestjs-bloom': '.',
  '@nestjs-bloom/interop': 'packages/interop',
  '@nestjs-bloom/cli': 'packages/cli',
};

/**
 * A folder of an application in which the packages are installed as npm does it: compiled, and beside their
 * dependencies.
 */
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
  mkdirSync(modules);
  for (const name of readdirSync(join(ROOT, 'node_modules'))) {
    if (!/^\.|nestjs-bloom$/.test(name)) symlinkSync(join(ROOT, 'node_modules', name), join(modules, name));
  }
  for (const [name, home] of Object.entries(PACKAGES)) {
    const target = join(modules, name);
    mkdirSync(target, { recursive: true });
    writeFileSync(join(target, 'package.json'), readFileSync(join(ROOT, home, 'package.json')));
    const src = join(ROOT, home, 'src');
    for (const file of readdirSync(src, { recursive: true, encoding: 'utf8' })) {
      if (file.endsWith('.ts')) compile(readFileSync(join(src, file), 'utf8'), join(target, 'dist', file));
    }
  }
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'shop', type: 'module' }));
  for (const [file, text] of Object.entries(files)) {
    const path = join(folder, ...file.split('/'));
    if (file.endsWith('.ts')) compile(text, path);
    else write(path, text);
  }
  const remove = () => rmSync(folder, { recursive: true, force: true });
  return { folder, bin: ['node_modules', '@nestjs-bloom', 'cli', 'dist', 'main.js'].join(sep), remove };
}

function compile(source: string, path: string): void {
  write(path.replace(/\.ts$/, '.js'), transformSync(source, { ...COMPILER, filename: path }).code);
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
