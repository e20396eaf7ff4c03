import { lowerCase } from '../../src/filter/index.js';
import { readOptions, runProgram } from '../shared/command-line.js';
import type { Compared } from './compared.js';
import type { Difference } from './differences.js';
import { compareMariaDb } from './mariadb-collations.js';
import { comparePostgres } from './postgres-collations.js';

const USAGE = `npm run collations -- [options]

Compares the keys that lowerCase makes with what real servers take for one text: citext and collations of ICU on Postgres, and
collations of MariaDB, for every character and for all pairs of letters of one script. It starts the servers itself.
Exit code 1: two texts are equal for a database, have two keys, and docs/internals/lowercase.md does not name them.

  --collation <name>  one collation of MariaDB alone, such as utf8mb4_danish_ci
  --help              this text
`;

/** What docs/internals/lowercase.md names. */
const NAMED: Readonly<Record<string, RegExp>> = {
  general: /^(?:ß|\u0345)$/,
  latin1_swedish: /^[üÜæÆ[\\\]]$/,
};
const NAMED_EVERYWHERE = /[\u{10000}-\u{10ffff}]|\ufdfa/u;
const SHOWN = 20;
/** Those that were made already: each collation asks for the same ones. */
const keys = new Map<string, string>();

await runProgram({
  usage: USAGE,
  parse: (words) => {
    const { collation, help = false } = readOptions(words, {
      collation: { type: 'string' },
      help: { type: 'boolean' },
    });
    return { help, collations: collation === undefined ? [] : [collation] };
  },
  async run({ collations }) {
    let unnamed = 0;
    for await (const compared of compareMariaDb(keyOf, collations)) unnamed += report(compared);
    if (collations.length > 0) return Number(unnamed > 0);
    for await (const compared of comparePostgres(keyOf)) unnamed += report(compared);
    return Number(unnamed > 0);
  },
});

/** Between other letters: space at the ends of a whole text is another matter. */
function keyOf(text: string): string {
  const known = keys.get(text);
  if (known !== undefined) return known;
  const key = String(lowerCase(`|${text}|`)).slice(1, -1);
  keys.set(text, key);
  return key;
}

/** Returns how many differences are named nowhere. */
function report({ server, collation, texts, differences }: Compared): number {
  const unnamed = differences.filter((difference) => !isNamed(collation, difference));
  process.stdout.write(
    `${server}, ${collation}: ${texts.toLocaleString('en')} texts, ${differences.length - unnamed.length} named differences, ` +
      `${unnamed.length} others\n`,
  );
  for (const { text, key, expected } of unnamed.slice(0, SHOWN))
    process.stdout.write(
      `  ${shown(text)} has the key ${JSON.stringify(key)} in place of ${JSON.stringify(expected)}\n`,
    );
  return unnamed.length;
}

function isNamed(collation: string, { text }: Difference): boolean {
  const named = Object.entries(NAMED).find(([name]) => collation.includes(name))?.[1];
  return NAMED_EVERYWHERE.test(text) || named?.test(text) === true;
}

function shown(text: string): string {
  const codePoints = Array.from(text, (one) => `U+${one.codePointAt(0)!.toString(16).toUpperCase()}`);
  return `${JSON.stringify(text)} (${codePoints.join(' ')})`;
}
