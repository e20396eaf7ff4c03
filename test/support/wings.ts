import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { findCircles, type Import, importsOf, type Sources } from './imports.js';

/** A package beside the core. */
export interface Wing {
  /** Its peers and dependencies. */
  readonly packages: readonly string[];
  /** By their path within its `src`. */
  readonly sources: Sources;
}

/** Everything by which a wing breaks its rules, a sentence each. */
export function findWingViolations({ packages, sources }: Wing): string[] {
  const entries = entriesOfCore();
  const complaint = ({ to, isPackage, specifier }: Import) => {
    if (!isPackage) return sources.has(to) ? undefined : 'a wing imports no file beyond its src';
    if (to === 'nestjs-bloom') return entries.includes(specifier) ? undefined : 'the core has no such entry';
    return to.startsWith('node:') || packages.includes(to) ? undefined : 'it is no peer of this wing';
  };
  const imports = [...sources].flatMap(([file, text]) => importsOf(file, text));
  return imports
    .flatMap((one) => {
      const reason = complaint(one);
      return reason ? [`${one.from} imports ${one.specifier}: ${reason}`] : [];
    })
    .concat(findCircles(sources));
}

/** The names of all wings. */
export function wingNames(): string[] {
  return readdirSync('packages');
}

export function readWing(name: string): Wing {
  const { dependencies, peerDependencies } = readPackage(join('packages', name));
  return {
    packages: Object.keys({ ...dependencies, ...peerDependencies }),
    sources: readSources(join('packages', name, 'src')),
  };
}

/** All sources of a folder by their path within it, with `/`. */
export function readSources(folder: string): Map<string, string> {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) =>
    /(?<!\.d)\.ts$/.test(file),
  );
  return new Map(files.map((file) => [file.replaceAll('\\', '/'), readFileSync(join(folder, file), 'utf8')]));
}

function entriesOfCore(): string[] {
  return Object.keys(readPackage('.').exports).map((path) => `nestjs-bloom${path.slice(1)}`);
}

function readPackage(folder: string): {
  readonly exports: Readonly<Record<string, unknown>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
} {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
}
