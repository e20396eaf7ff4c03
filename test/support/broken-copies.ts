import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { transform } from '@swc/core';
import type { LocalCopyStore } from '../../src/store/local-copy/index.js';

const FOLDER = fileURLToPath(new URL('../../src/store/local-copy', import.meta.url));

/** A text of one file of the folder, wherever it stands there, and what takes its place. */
type Change = readonly [file: string, text: string, by: string];

const ANY_WALL_CLOCK: Change = [
  'local-copy.ts',
  'return wall < this.wallUntil && wall >= this.wallSince;',
  'return true;',
];
const ANY_MONOTONIC_CLOCK: Change = [
  'local-copy.ts',
  'this.until = now + this.ms;',
  'this.until = Infinity;',
];

const OTHER_LIST = 'if (list !== held.list) return this.end(because.OTHER_FEED);\n    ';
const NOT_WHOLE_OR_NOT_SWAPPED = 'if (!copy?.isWhole || !isOfSwap) return undefined;';

/**
 * What makes an "absent" from a copy true, by its names in verification/model/leased-copies.ts and
 * covered-copies.ts, and how each is taken out. The models have no clocks.
 */
const RULES = {
  'number-before-load': [
    ['live-copy.ts', 'if (lease && !(await this.hasUse(lease, copy))) return;', ''],
    ['live-copy.ts', ' && (!copy.isWhole || copy.proof !== undefined || covers !== undefined);', ';'],
    [
      'live-copy.ts',
      "if (outcome === 'unwanted') return;",
      "if (outcome === 'unwanted' || (lease && !(await this.hasUse(lease, copy)))) return;",
    ],
  ],
  'one-server': [
    [
      'lease.ts',
      'if (this.context.leases.server !== held.grantedBy) return this.end(because.LOAD_FAILED);',
      '',
    ],
    ['next-copy.ts', ' && this.leases.server === server', ''],
  ],
  'renew-applied': [
    ['lease.ts', 'return this.grant !== undefined && this.applied < this.grant.number;', 'return false;'],
  ],
  'ack-applied': [
    ['lease.ts', 'held.acknowledged < held.applied', 'held.acknowledged < held.written'],
    [
      'lease.ts',
      'const { list, applied } = held;\n        await leases.acknowledge',
      'const { list, written: applied } = held;\n        await leases.acknowledge',
    ],
  ],
  'gap-seen': [
    ['lease.ts', 'if (number > held.applied + 1) {', 'if (isMessage && number > held.applied + 1) {'],
  ],
  'message-follows': [
    ['lease.ts', 'if (number > held.applied + 1) {', 'if (!isMessage && number > held.applied + 1) {'],
  ],
  'tag-in-entry': [
    [
      'lease.ts',
      'if (!isOfCopy) return this.end(because.ANOTHER_GENERATION);\n    if (places &&',
      'if (isOfCopy && places &&',
    ],
    ['lease.ts', 'if (!isKnown && !isOld) return this.end(because.ANOTHER_GENERATION);', ''],
    ['lease.ts', "if (reply.outcome !== 'granted' || isOther) {", "if (reply.outcome !== 'granted') {"],
  ],
  'feed-identity': [
    ['lease.ts', `${OTHER_LIST}if (number`, 'if (number'],
    ['lease.ts', `${OTHER_LIST}const isKnown`, 'held.list = list;\n    const isKnown'],
  ],
  'lease-ends': [ANY_MONOTONIC_CLOCK, ANY_WALL_CLOCK],
  'before-asking': [
    [
      'local-copy.ts',
      'begin({ now, wall }: Moment): void {',
      'begin(): void {\n    const { now, wall } = this.moment();',
    ],
  ],
  'wall-clock': [ANY_WALL_CLOCK],
  'monotonic-clock': [ANY_MONOTONIC_CLOCK],
  'own-copy': [['copied-filter.ts', 'return this.addLeased(ids);', 'return this.inner.add(ids);']],
  'next-whole': [
    [
      'next-copy.ts',
      NOT_WHOLE_OR_NOT_SWAPPED,
      'if (!copy || !isOfSwap) return undefined;\n    copy.isWhole = true;',
    ],
  ],
  'next-of-swap': [['next-copy.ts', NOT_WHOLE_OR_NOT_SWAPPED, 'if (!copy?.isWhole) return undefined;']],
} as const satisfies Record<string, readonly Change[]>;

/** The same where a copy covers ids, without a lease. */
const COVERED_RULES = {
  'heard-before-blocks': [['live-copy.ts', 'copy.covers = covers;', 'copy.covers = this.covers;']],
  'look-after-blocks': [['live-copy.ts', 'if (covers) await this.describe();', '']],
  'bits-stay': [['live-copy.ts', 'this.isLeasable || this.options.covers !== undefined', 'this.isLeasable']],
  'suspect-ends': [['live-copy.ts', "(state === 'lost' || state === 'unbuilt')", "state !== 'ready'"]],
  'other-generation-ends': [['live-copy.ts', ' || current?.covers !== undefined;', ';']],
} as const satisfies Record<string, readonly Change[]>;

export type CopyRule = keyof typeof RULES | keyof typeof COVERED_RULES;

export const COPY_RULES = Object.keys({ ...RULES, ...COVERED_RULES }) as readonly CopyRule[];

export const isCoveredRule = (rule: CopyRule): boolean => rule in COVERED_RULES;

/** The library's store of copies, from its sources without this rule. */
export async function copyStoreWithout(rule: CopyRule): Promise<typeof LocalCopyStore> {
  const changes: readonly Change[] = { ...RULES, ...COVERED_RULES }[rule];
  const files = (await readdir(FOLDER)).filter((file) => file.endsWith('.ts'));
  const folder = await mkdtemp(join(tmpdir(), 'nestjs-bloom-'));
  try {
    await Promise.all(
      files.map(async (file) => {
        const source = changed(file, await readFile(join(FOLDER, file), 'utf8'), changes);
        await writeFile(join(folder, file.replace('.ts', '.mjs')), await compiled(source));
      }),
    );
    const store = (await import(join(folder, 'local-copy-store.mjs'))) as {
      LocalCopyStore: typeof LocalCopyStore;
    };
    return store.LocalCopyStore;
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** @throws {Error} when a text to be changed is not there. */
function changed(file: string, source: string, changes: readonly Change[]): string {
  return changes
    .filter(([of]) => of === file)
    .reduce((before, [, text, by]) => {
      if (!before.includes(text)) throw new Error(`The file ${file} has not ${text}.`);
      return before.replace(text, by);
    }, source);
}

/** JavaScript that names its neighbours in the new folder, and everything else where it is. */
async function compiled(source: string): Promise<string> {
  const { code } = await transform(source, {
    jsc: { parser: { syntax: 'typescript' }, target: 'es2022' },
    swcrc: false,
  });
  return code
    .replace(/from ["'](\.\/[^"']+)\.js["']/g, "from '$1.mjs'")
    .replace(/from ["'](\.\.\/[^"']+)\.js["']/g, (_, path: string) => `from '${resolve(FOLDER, path)}.ts'`);
}
