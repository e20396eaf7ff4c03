import { plural } from '../../../common/index.js';

export const fullAndNotScaling = (capacity: number) =>
  `Expected at most ${plural(capacity, 'id')} in a filter that does not scale, got one more. Make a larger one, or one ` +
  'that scales.';

export const linkTooLarge = (mostBytes: number, capacity: number, errorRate: number) =>
  `Expected a further link of at most ${mostBytes} bytes, got one for ${capacity} ids at an error rate of ` +
  `${errorRate}. Make a new filter for all ids.`;

export const wrongHeader = (expected: string, got: string) =>
  `Expected the header of a RedisBloom dump to have ${expected}, got ${got}. Pass the chunks as BF.SCANDUMP replied them; ` +
  'dumps of RedisBloom 2.0 and of valkey-bloom are other formats.';

export const scalesAndDoesNot = (expansion: number) =>
  `Expected a filter that scales, or one without expansion, got nonScaling and expansion ${expansion}. Leave one out.`;
