/** Binary digits after the point. */
const FRACTION = 320n;
const ONE = 1n << FRACTION;
const LN2 = 2n * inverseTangent(ONE / 3n);

/**
 * The natural logarithm, rounded to the nearest double. `Math.log` of V8 is off by one unit in the last place for one value in 25,
 * those of Java and of glibc are not; so sizes and the fields of a dump need this one. For sizing alone: it is slow.
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
