/** The format of a part is this number and that of all parts: scripts that compare the format compare both. */
const BASE = 30_000;
const MOST = 9_999;

/** Format 4: as format 1, of a filter that is read with leases. */
export const LEASED_FORMAT = '4';

/** Format 3: as format 1, of one of so many parts. */
export function partsFormat(parts: number): string {
  return String(BASE + parts);
}

/** Parts of a filter whose metadata have this format; 0: it is not divided. Undefined for a format that is not known. */
export function partsOfFormat(format: string): number | undefined {
  if (format === '1' || format === '2' || format === LEASED_FORMAT) return 0;
  const parts = Number(format) - BASE;
  return parts > 0 && parts <= MOST ? parts : undefined;
}
