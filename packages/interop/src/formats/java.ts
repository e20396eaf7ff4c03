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

/** Binary digits after the point. */
const FRACTION = 320n;
const ONE = 1n << FRACTION;
const LN2 = 2n * inverseTangent(ONE / 3n);

/**
 * The natural logarithm, rounded to the nearest double. `Math.log` of V8 is off by one unit in the last place
 * for one value in 25, those of Java and of glibc are not; so sizes and the fields of a dump need this one.
 * For sizing alone: it is slow.
 *
 * @param x a positive, finite number
 */
export function naturalLogarithm(x: number): number {
  const exponent = Math.floor(Math.log2(x));
  // x = mantissa * 2^(exponent - 60), so mantissa / 2^60 is about 1.
  const mantissa = BigInt(scaled(x, 60 - exponent));
  const one = 1n << 60n;
  const quotient = ((mantissa - one) * ONE) / (mantissa + one);
  const logarithm = 2n * inverseTangent(quotient) + BigInt(exponent) * LN2;
  return Number(logarithm) * 2 ** -Number(FRACTION);
}

/** x * 2^exponent, exactly: in two steps, since the power alone may be beyond a double. */
function scaled(x: number, exponent: number): number {
  const half = Math.trunc(exponent / 2);
  return x * 2 ** half * 2 ** (exponent - half);
}

/** The hyperbolic one, by its series: x + x^3/3 + x^5/5 + … */
function inverseTangent(x: bigint): bigint {
  const square = (x * x) >> FRACTION;
  let sum = 0n;
  for (let power = x, n = 1n; power !== 0n && power !== -1n; power = (power * square) >> FRACTION, n += 2n) {
    sum += power / n;
  }
  return sum;
}

/** -n ln p / ln² 2 cut off to an integer, in the order in which the peers in Java calculate it. */
export function optimalBits(capacity: number, errorRate: number): number {
  return Math.trunc((-capacity * naturalLogarithm(errorRate)) / (Math.LN2 * Math.LN2));
}

/** (m / n) ln 2 rounded, at least 1. */
export function optimalHashCount(capacity: number, bits: number): number {
  return Math.max(1, Math.round((bits / capacity) * Math.LN2));
}
