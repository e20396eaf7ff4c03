/** 1,234,567 */
export function count(value: number): string {
  return value.toLocaleString('en-US', { maximumFractionDigits: 2 });
}

/** 1 key, 2 keys */
export function plural(value: number, noun: string): string {
  return `${count(value)} ${noun}${value === 1 ? '' : 's'}`;
}
