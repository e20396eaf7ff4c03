import { BloomConfigError } from './errors.js';
import { notOptions, noSuchOption, optionWithoutValue } from './common.messages.js';

/** The names of all options of a type, for the compiler to compare: `{ cron: true, … } satisfies OptionNames<Schedule>`. */
export type OptionNames<Options> = Record<keyof Options, true>;

export interface OptionsCheck {
  /** Whose options they are, for people: `Filter 'products'`. */
  readonly where: string;
  /** Where they stand, with the dot after it: `rebuild.`; empty for options that stand on their own. */
  readonly path?: string;
  readonly known: Readonly<Record<string, true>>;
  /** Options that are a mistake when they are given as undefined: their default means something else. */
  readonly valued?: readonly string[];
  /** What to write instead of a name that is an option of something else, or of another library. */
  readonly elsewhere?: (name: string) => string | undefined;
}

/**
 * Refuses what is no object of options, an option that there is not (it would have no effect), and one of
 * `valued` without a value.
 *
 * @throws {BloomConfigError} that says which option was probably meant.
 */
export function checkOptions(options: unknown, check: OptionsCheck): void {
  const { where, path = '', known, valued = [] } = check;
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    const what = path === '' ? 'an object of options' : `${path.slice(0, -1)} to be an object`;
    throw new BloomConfigError(notOptions(where, what, options));
  }
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined && valued.includes(name))
      throw new BloomConfigError(optionWithoutValue(where, path + name, value));
    if (Object.hasOwn(known, name) || value === undefined) continue;
    throw new BloomConfigError(noSuchOption(where, path, name, advice(name, { ...check, path })));
  }
}

function advice(name: string, { path = '', known, elsewhere }: OptionsCheck): string {
  const other = elsewhere?.(name);
  if (other !== undefined) return other;
  const names = Object.keys(known);
  const near = nearestName(name, names);
  if (near !== undefined) return `Did you mean '${path}${near}'?`;
  return `The options ${path === '' ? '' : `of ${path.slice(0, -1)} `}are ${names.join(', ')}.`;
}

/** The name that was probably meant: written in another case, or one or two letters away, of which one may be a third of the name. */
export function nearestName(name: string, names: Iterable<string>, mostLetters = 2): string | undefined {
  let nearest: string | undefined;
  let least = Math.min(mostLetters, Math.floor(name.length / 3)) + 1;
  for (const candidate of names) {
    const distance = plain(candidate) === plain(name) ? 0 : editDistance(plain(name), plain(candidate));
    if (distance < least) [nearest, least] = [candidate, distance];
  }
  return nearest;
}

function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
}

/** Letters to insert, leave out, replace, or exchange with the next one (the optimal string alignment distance). */
function editDistance(from: string, to: string): number {
  let before: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, i) => i);
  for (let i = 1; i <= from.length; i++) {
    const row = [i];
    for (let j = 1; j <= to.length; j++) {
      const isSame = from[i - 1] === to[j - 1];
      let least = Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + (isSame ? 0 : 1));
      if (i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1])
        least = Math.min(least, before[j - 2]! + 1);
      row.push(least);
    }
    [before, last] = [last, row];
  }
  return last[to.length]!;
}
