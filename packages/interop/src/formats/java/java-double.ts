const DECIMAL = /^\d+(?:\.\d+)?(?:E-?\d+)?$/;

/** What Java's `Double.toString` gives for a number that is not negative: `0.001`, `1.0E-4`, `0.0`. */
export function formatJavaDouble(value: number): string {
  if (value === 0) return '0.0';
  if (value >= 1e-3 && value < 1e7) return Number.isInteger(value) ? `${value}.0` : String(value);
  const [digits, exponent] = shortestExponential(value).split('e') as [string, string];
  return `${digits.includes('.') ? digits : `${digits}.0`}E${Number(exponent)}`;
}

/** A decimal as Java writes doubles, or plain; undefined when it is neither. */
export function parseJavaDouble(text: string): number | undefined {
  return DECIMAL.test(text) ? Number(text) : undefined;
}

/** Where one digit would do, Java takes the nearer decimal of two: 4.9E-324, not 5.0E-324. */
function shortestExponential(value: number): string {
  const shortest = value.toExponential();
  if (shortest.includes('.')) return shortest;
  const ofTwoDigits = value.toExponential(1);
  return Number(ofTwoDigits) === value ? ofTwoDigits : shortest;
}
