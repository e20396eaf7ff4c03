/** A text that no comparison takes apart: a character, or two that a collation takes for one. */
export interface Atom {
  readonly text: string;
  /** What the database compares in place of the text, in this order. */
  readonly weights: readonly string[];
}

/** A text whose key is another one than that of texts that the database takes for equal. */
export interface Difference {
  readonly text: string;
  readonly key: string;
  readonly expected: string;
}

export type KeyOf = (text: string) => string;

/**
 * The atoms whose key does not follow from their weights. Where there are none, texts of any length that are
 * equal for the database have one key: such texts have the same weights, and the key of a text is made of
 * those of its atoms, one after the other.
 */
export function differencesOf(atoms: readonly Atom[], keyOf: KeyOf): Difference[] {
  const keys = new Map<string, string>();
  const differences: Difference[] = [];
  const expect = (group: readonly Atom[], expected: string) => {
    for (const { text } of group) {
      const key = keyOf(text);
      if (key !== expected) differences.push({ text, key, expected });
    }
  };
  let open: Atom[][] = [];
  for (const group of groupBy(atoms, ({ weights }) => weights.join(' ')).values()) {
    const { weights } = group[0]!;
    if (weights.length > 1) {
      open.push(group);
      continue;
    }
    const key = weights.length === 0 ? '' : usualKey(group, keyOf);
    if (weights.length === 1) keys.set(weights[0]!, key);
    expect(group, key);
  }
  // A weight that stands nowhere alone is known by what is left of a key, when the other weights of it are
  // known.
  for (let before = Infinity; open.length < before;) {
    before = open.length;
    open = open.filter((group) => {
      const expected = joined(group[0]!.weights, usualKey(group, keyOf), keys);
      if (expected === undefined) return true;
      expect(group, expected);
      return false;
    });
  }
  for (const group of open) expect(group, usualKey(group, keyOf));
  return differences;
}

/** The key of most. Of two that as many have, the simpler one. */
export function usualKey(group: readonly { text: string }[], keyOf: KeyOf): string {
  const byKey = groupBy(group, ({ text }) => keyOf(text));
  const rank = (key: string) => Number(!/^[\0-\x7f]+$/.test(key)) + [...key].length;
  return [...byKey].sort(([a, one], [b, other]) => other.length - one.length || rank(a) - rank(b))[0]![0];
}

/**
 * The key that these weights say; undefined while it cannot be said. Notes what `key` says of a weight that
 * was not known.
 */
function joined(weights: readonly string[], key: string, keys: Map<string, string>): string | undefined {
  const unknown = weights.filter((weight) => !keys.has(weight));
  if (unknown.length > 1) return undefined;
  const of = (some: readonly string[]) => some.map((weight) => keys.get(weight)).join('');
  if (unknown.length === 1) {
    const at = weights.indexOf(unknown[0]!);
    const [head, tail] = [of(weights.slice(0, at)), of(weights.slice(at + 1))];
    if (!key.startsWith(head) || !key.slice(head.length).endsWith(tail)) return undefined;
    keys.set(unknown[0]!, key.slice(head.length, key.length - tail.length));
  }
  return of(weights);
}

function groupBy<Item>(items: readonly Item[], nameOf: (item: Item) => string): Map<string, Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const name = nameOf(item);
    const group = groups.get(name);
    if (group) group.push(item);
    else groups.set(name, [item]);
  }
  return groups;
}
