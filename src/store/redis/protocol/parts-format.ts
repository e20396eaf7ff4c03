/** The format of metadata of a part is this number and that of all parts of its filter. So every script that compares the format compares the number of parts. */
const BASE = 30_000;
const LEASED = '4';
const LEASED_BASE = 40_000;
const MOST = 9_999;

/** Format 3: as format 1, of one of so many parts. */
export function partsFormat(parts: number): string {
  return String(BASE + parts);
}

/** Format 4: as format 1 or 3, of a filter that is read with leases. */
export function leasedFormat(parts: number | undefined): string {
  return parts === undefined ? LEASED : String(LEASED_BASE + parts);
}

/** Parts of a filter whose metadata have this format; 0: it is not divided. Undefined for a format that is not known. */
export function partsOfFormat(format: string): number | undefined {
  if (format === '1' || format === '2' || format === LEASED) return 0;
  const number = Number(format);
  const base = number > LEASED_BASE ? LEASED_BASE : BASE;
  return number > base && number <= base + MOST ? number - base : undefined;
}
