import { BloomFormatError, type FilterTarget } from 'nestjs-bloom/filter';
import { type Geometry, MAX_HASH_COUNT } from './bitmap-filter.js';
import { wrongConfig } from './formats.messages.js';
import { formatJavaDouble, parseJavaDouble } from './java.js';

export const MAX_BITS = 4_294_967_294;

/**
 * The hash under the filter's config key. All are decimal text; Redisson compares the first two as strings.
 */
export interface RedissonConfig {
  readonly size: string;
  readonly hashIterations: string;
  readonly expectedInsertions: string;
  readonly falseProbability: string;
}

/** The same as numbers. */
export interface RedissonGeometry extends Geometry, FilterTarget {}

const CANONICAL_DECIMAL = /^[1-9]\d{0,15}$/;

/** The hash under the config key, as `tryInit` writes it. */
export function writeConfig(geometry: RedissonGeometry): RedissonConfig {
  return {
    size: String(geometry.bits),
    hashIterations: String(geometry.hashCount),
    expectedInsertions: String(geometry.capacity),
    falseProbability: formatJavaDouble(geometry.errorRate),
  };
}

/**
 * The hash under the config key, as numbers.
 *
 * @throws {BloomFormatError} when a field is missing, no canonical decimal, or beyond what Redisson could
 * have written.
 */
export function readConfig(config: Readonly<Partial<RedissonConfig>>): RedissonGeometry {
  return {
    bits: readInteger(config, 'size', MAX_BITS),
    hashCount: readInteger(config, 'hashIterations', MAX_HASH_COUNT),
    capacity: readInteger(config, 'expectedInsertions', Number.MAX_SAFE_INTEGER),
    errorRate: readProbability(config.falseProbability),
  };
}

function readInteger(
  config: Readonly<Partial<RedissonConfig>>,
  field: keyof RedissonConfig,
  max: number,
): number {
  const text = config[field];
  const value = text !== undefined && CANONICAL_DECIMAL.test(text) ? Number(text) : NaN;
  if (value <= max) return value;
  throw refused(field, `an integer from 1 to ${max} without sign or leading zeros`, text);
}

function readProbability(text: string | undefined): number {
  const value = text === undefined ? undefined : parseJavaDouble(text);
  if (value !== undefined && value <= 1) return value;
  throw refused('falseProbability', 'a decimal from 0 to 1', text);
}

function refused(field: keyof RedissonConfig, expected: string, text: string | undefined): BloomFormatError {
  const got = text === undefined ? 'none' : `'${text.slice(0, 40)}'`;
  return new BloomFormatError(wrongConfig(field, expected, got));
}
