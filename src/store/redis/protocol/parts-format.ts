/** The format of metadata of a part is this number and that of all parts of its filter. So every script that compares the format compares the number of parts. */
const BASE = 30_000;
const LAST = 39_999;

/** Format 3: as format 1, of one of so many parts. */
export function partsFormat(parts: number): string {
  return String(BASE + parts);
}

/** Parts of a filter whose metadata have this format; 0: it is not divided. Undefined for a format that is not known. */
export function partsOfFormat(format: string): number | undefined {
  if (format === '1' || format === '2') return 0;
  const number = Number(format);
  return number > BASE && number <= LAST ? number - BASE : undefined;
}
