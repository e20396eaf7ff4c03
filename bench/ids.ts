/** Texts of 14 characters, of which those of another prefix never equal one: what `limit.c` makes too. */
export function idText(prefix: 'prod' | 'none', number: number): string {
  return flat(`${prefix}-${String((number * 7919) % 1_000_000_000).padStart(9, '0')}`);
}

export function idTexts(prefix: 'prod' | 'none', count: number, first = 0): string[] {
  return Array.from({ length: count }, (_, i) => idText(prefix, first + i));
}

/** Chosen at random from the first `of` present ids. */
export function somePresent(count: number, of: number): string[] {
  return Array.from({ length: count }, () => idText('prod', Math.floor(Math.random() * of)));
}

/** A string as it comes from a socket: its characters in one piece, not a tree of concatenations. */
function flat(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1');
}
