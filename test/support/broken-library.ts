import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readSources } from './wings.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** The name of what says in all modules of the copy which rule is taken out. */
const TAKEN_OUT = 'nestjsBloomWithout';

/**
 * Where a rule stands in the source, and what stands there when it can be taken out: `WITHOUT` is true then.
 * Without that word it stands there always.
 */
export interface Cut {
  /** In the repository. */
  readonly file: string;
  /** Stands there once. */
  readonly from: string;
  readonly to: string;
}

/** A second copy of the library, of which rules can be taken out one at a time. */
export class BrokenLibrary {
  /** The rule that is taken out now. */
  taken: string | undefined;

  private constructor(private readonly folder: string) {}

  /**
   * @param wing which is copied too, and uses the copy of the core.
   * @throws when a text is not where it is said to be, or stands there more than once.
   */
  static open(cuts: Readonly<Record<string, Cut>>, wing?: string): BrokenLibrary {
    const folder = mkdtempSync(join(tmpdir(), 'nestjs-bloom-broken-'));
    cpSync(join(ROOT, 'src'), join(folder, 'src'), { recursive: true });
    if (wing !== undefined) copyWing(wing, folder);
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    for (const [rule, { file, from, to }] of Object.entries(cuts)) {
      const path = join(folder, file);
      const parts = readFileSync(path, 'utf8').split(from);
      if (parts.length !== 2)
        throw new Error(
          `Expected ${file} to have the text of rule ${rule} once, found it ${parts.length - 1} times.`,
        );
      const condition = `((globalThis as Record<string, unknown>)['${TAKEN_OUT}'] === '${rule}')`;
      writeFileSync(path, parts.join(to.replaceAll('WITHOUT', condition)));
    }
    return new BrokenLibrary(folder);
  }

  /** A module of the copy, by its path in the repository. */
  load<Module>(path: string): Promise<Module> {
    return import(join(this.folder, path)) as Promise<Module>;
  }

  take(rule: string | undefined): void {
    this.taken = rule;
    Object.assign(globalThis, { [TAKEN_OUT]: rule });
  }

  close(): void {
    this.take(undefined);
    rmSync(this.folder, { recursive: true, force: true });
  }
}

function copyWing(name: string, folder: string): void {
  const copy = join(folder, 'packages', name, 'src');
  cpSync(join(ROOT, 'packages', name, 'src'), copy, { recursive: true });
  for (const [file, text] of readSources(copy)) {
    const ofCopy = text.replace(/'nestjs-bloom(?:\/(\w+))?'/g, (_, entry?: string) => {
      return `'${join(folder, 'src', entry ? `${entry}-entry.ts` : 'index.ts')}'`;
    });
    writeFileSync(join(copy, file), ofCopy);
  }
}
