/** 1,234,567 */
export function count(value: number): string {
  return value.toLocaleString('en-US', { maximumFractionDigits: 2 });
}

/** 1.78 MiB; less than one in bytes. */
export function size(bytes: number): string {
  return bytes < 2 ** 20 ? plural(bytes, 'byte') : `${count(bytes / 2 ** 20)} MiB`;
}

/** 12.53 s; less than one in milliseconds. */
export function duration(ms: number): string {
  return ms < 1000 ? `${count(Math.round(ms))} ms` : `${count(ms / 1000)} s`;
}

/** 1 key, 2 keys */
export function plural(value: number, noun: string): string {
  return `${count(value)} ${noun}${value === 1 ? '' : 's'}`;
}

/**
 * The name that was probably meant: in another case, or one or two letters away (at most a third of the
 * name).
 */
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

/** Letters to insert, leave out, replace, or exchange with the next one (optimal string alignment). */
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
