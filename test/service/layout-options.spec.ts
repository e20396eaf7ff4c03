import { describe, expect, it } from '@jest/globals';
import { BloomConfigError } from '../../src/common/index.js';
import { type BloomFilterOptions, defineFilter } from '../../src/service/index.js';

const source = { async *ids() {} };
const goZero = { kind: 'go-zero', key: 'a', bits: 1000 };
const redisson = { kind: 'redisson', name: 'a', codec: 'StringCodec' };
const redisBloom = { kind: 'redisbloom', key: 'a' };

type Given = Partial<Record<keyof BloomFilterOptions, unknown>>;

const define = (options: Given) =>
  defineFilter({ name: 'products', capacity: 1000, errorRate: 0.01, ...options } as BloomFilterOptions);

describe('Options of a layout that cannot go together', () => {
  it.each<[string, Given, RegExp]>([
    [
      'foreignAdds of BF.*',
      { layout: { ...redisBloom, foreignAdds: 'none' }, source },
      /no layout\.foreignAdds .*'redisbloom', got 'none': only go-zero, guava/,
    ],
    [
      'adopt of a cuckoo filter',
      { layout: { kind: 'cuckoo', adopt: 'explicit' } },
      /no layout\.adopt .*'cuckoo'.* Leave it out/,
    ],
    [
      'foreignAdds of a cuckoo filter',
      { layout: { kind: 'cuckoo', foreignAdds: 'keep' }, source },
      /no layout\.foreignAdds .*'cuckoo'/,
    ],
    [
      'adopt of a filter of our own',
      { layout: { kind: 'blocked', adopt: 'explicit' } },
      /no layout\.adopt .*'blocked'/,
    ],
    [
      'resize of go-zero',
      { layout: { ...goZero, resize: true }, source },
      /no layout\.resize .*'go-zero', got true: only redisson has it/,
    ],
    [
      'scaling of a layout of others',
      { layout: { ...goZero, scaling: {} } },
      /no layout\.scaling .*'go-zero'/,
    ],
    [
      'scaling beside a layout of others',
      { layout: goZero, scaling: {} },
      /expected scaling to be an object, with the layout 'blocked'/,
    ],
    [
      'scaling beside BF.*, which grow by themselves',
      { layout: redisBloom, scaling: {} },
      /expected scaling to be/,
    ],
    ['scaling beside a cuckoo filter', { layout: { kind: 'cuckoo' }, scaling: {} }, /expected scaling to be/],
    [
      'scaling and a source',
      { scaling: {}, source },
      /expected source to be no source, since a filter with scaling/,
    ],
    [
      'scaling and a schedule',
      { scaling: {}, rebuild: { everyMs: 1000 } },
      /a source, since a schedule is given/,
    ],
    [
      'scaling and a copy',
      { scaling: {}, replica: 'verified' },
      /expected replica to be 'off' .* and scaling/,
    ],
    [
      'a cuckoo filter and a copy',
      { layout: { kind: 'cuckoo' }, replica: 'verified' },
      /expected replica to be 'off' .*'cuckoo'/,
    ],
    [
      'BF.* and a copy',
      { layout: redisBloom, replica: 'verified' },
      /expected replica to be 'off' .*'redisbloom'/,
    ],
    ['an expansion of scaling that is none', { scaling: { expansion: 1.5 } }, /expansion/],
    ['a tightening that is none', { scaling: { tightening: 1 } }, /tightening/],
    [
      'foreignAdds without a rebuild',
      { layout: { ...goZero, foreignAdds: 'none' } },
      /no layout\.foreignAdds without a source, got 'none'/,
    ],
    [
      'resize without a rebuild',
      { layout: { ...redisson, resize: true } },
      /no layout\.resize without a source, got true/,
    ],
    [
      'adopt of BF.* with a rebuild',
      { layout: { kind: 'redisbloom', key: 'shop', adopt: 'explicit' }, source },
      /no layout\.adopt with a source, got 'explicit'/,
    ],
    [
      'adopt with a rebuild',
      { layout: { ...goZero, adopt: 'explicit' }, source },
      /no layout\.adopt with a source, got 'explicit'/,
    ],
  ])('are refused at start: %s', (_, options, message) => {
    expect(() => define(options)).toThrow(BloomConfigError);
    expect(() => define(options)).toThrow(message);
    expect(() => define(options)).toThrow(/^Filter 'products': /);
  });

  it.each<[string, Given]>([
    ['the defaults, said', { layout: { ...goZero, foreignAdds: 'keep', adopt: 'first-sight' } }],
    [
      'what a rebuild does, with one',
      { layout: { ...redisson, foreignAdds: 'recent', resize: true }, source },
    ],
    ['scaling of the layout itself', { layout: { kind: 'blocked', scaling: { expansion: 3 } } }],
    ['a cuckoo filter that does not grow', { layout: { kind: 'cuckoo', expansion: 0 }, source }],
  ])('are told from those that can: %s', (_, options) => {
    expect(define(options).name).toBe('products');
  });
});
