import { describe, expect, it } from '@jest/globals';
import { BloomConfigError } from '../../src/common/index.js';
import { cuckoo, goZero, guava, redisBloom, redisson } from '@nestjs-bloom/interop';
import { scaling } from '@nestjs-bloom/interop/scaling';
import { type BloomFilterOptions, defineFilter } from '../../src/service/index.js';

const source = { async *ids() {} };
const bits = { key: 'a', bits: 1000 };
const keys = { name: 'a', codec: 'StringCodec' } as const;

type Given = Partial<Record<keyof BloomFilterOptions | 'scaling', unknown>>;

const define = (options: Given) =>
  defineFilter({ name: 'products', capacity: 1000, errorRate: 0.01, ...options } as BloomFilterOptions);

describe('Options of a layout that cannot go together', () => {
  it.each<[string, Given, RegExp]>([
    ['a layout that grows and a source', { layout: scaling(), source }, /expected source to be no source/],
    [
      'a layout that grows and a schedule',
      { layout: scaling(), rebuild: { everyMs: 1000 } },
      /a source, since a schedule is given/,
    ],
    [
      'a layout that grows and a copy',
      { layout: scaling(), replica: 'verified' },
      /expected replica to be 'off' with the layout scaling/,
    ],
    [
      'a cuckoo filter and a copy',
      { layout: cuckoo(), replica: 'verified' },
      /expected replica to be 'off' .*cuckoo/,
    ],
    [
      'BF.* and a copy',
      { layout: redisBloom({ key: 'a' }), replica: 'verified' },
      /expected replica to be 'off' .*redisbloom/,
    ],
    [
      'BF.* and a copy with leases',
      { layout: redisBloom({ key: 'a' }), replica: 'leased' },
      /expected replica to be 'off' .*redisbloom/,
    ],
    [
      'cuckoo and leases of others',
      { layout: cuckoo(), leaseMs: 1000 },
      /expected leaseMs to be left out with the layout cuckoo/,
    ],
    [
      'a mode that there is not',
      { replica: 'lease' },
      /expected replica to be 'off', 'verified', 'covered' or 'leased'/,
    ],
    [
      'a short lease',
      { replica: 'leased', leaseMs: 99 },
      /expected leaseMs to be a whole number .* from 100/,
    ],
    ['a long one', { replica: 'leased', leaseMs: 30_001 }, /expected leaseMs to be .* from 100 to 30000/],
    ['one that is no number', { leaseMs: '1000' }, /expected leaseMs to be .*got '1000'/],
    [
      'foreignAdds without a rebuild',
      { layout: goZero({ ...bits, foreignAdds: 'none' }) },
      /goZero\(\): expected no foreignAdds without a source, got 'none'/,
    ],
    [
      'resize without a rebuild',
      { layout: redisson({ ...keys, resize: true }) },
      /redisson\(\): expected no resize without a source, got true/,
    ],
    [
      'adopt of BF.* with a rebuild',
      { layout: redisBloom({ key: 'shop', adopt: 'explicit' }), source },
      /redisBloom\(\): expected no adopt with a source, got 'explicit'/,
    ],
    [
      'adopt with a rebuild',
      { layout: goZero({ ...bits, adopt: 'explicit' }), source },
      /goZero\(\): expected no adopt with a source, got 'explicit'/,
    ],
  ])('are refused at start: %s', (_, options, message) => {
    expect(() => define(options)).toThrow(BloomConfigError);
    expect(() => define(options)).toThrow(message);
    expect(() => define(options)).toThrow(/^Filter 'products': /);
  });

  it.each<[string, Given]>([
    ['the defaults, said', { layout: goZero({ ...bits, foreignAdds: 'keep', adopt: 'first-sight' }) }],
    [
      'what a rebuild does, with one',
      { layout: redisson({ ...keys, foreignAdds: 'none', resize: true }), source },
    ],
    ['growing', { layout: scaling({ expansion: 3 }) }],
    ['a cuckoo filter that does not grow', { layout: cuckoo({ expansion: 0 }), source }],
    ['the default by its name', { layout: 'blocked' }],
  ])('are told from those that can: %s', (_, options) => {
    expect(define(options).name).toBe('products');
  });
});

describe('An option that a layout does not have', () => {
  it.each<[string, () => unknown, RegExp]>([
    ['goZero', () => goZero({ ...bits, resize: true } as never), /'resize'.* key, bits, foreignAdds, adopt/],
    ['guava', () => guava({ key: 'a', funnel: 'longFunnel', bits: 9 } as never), /'bits'/],
    ['redisson', () => redisson({ ...keys, capacity: 10 } as never), /'capacity'/],
    ['redisBloom', () => redisBloom({ foreignAdds: 'none' } as never), /'foreignAdds'/],
    ['cuckoo', () => cuckoo({ adopt: 'explicit' } as never), /'adopt'/],
    ['scaling', () => scaling({ scaling: {} } as never), /'scaling'.* expansion, tightening, maxCapacity/],
    ['goZero', () => goZero({ kind: 'go-zero', ...bits } as never), /'kind'.* Leave it out/],
    ['goZero', () => goZero('a' as never), /expected an object with the options key, bits, .* got 'a'/],
    ['goZero', () => goZero(undefined as never), /expected an object .* got undefined/],
  ])('is refused by %s', (name, make, message) => {
    expect(make).toThrow(BloomConfigError);
    expect(make).toThrow(message);
    expect(make).toThrow(`${name}(): expected`);
  });
});

describe('What is no layout', () => {
  it.each<[string, Given, string]>([
    [
      'its name',
      { layout: 'cuckoo' },
      'such as layout: redisson({ … }); for a filter of its own leave it out.',
    ],
    ['a function that was not called', { layout: goZero }, 'Call the function: layout: goZero({ … })'],
    [
      'the default as an object',
      { layout: { kind: 'blocked' } },
      'such as layout: redisson({ … }); for a filter of its own leave it out.',
    ],
    ['null', { layout: null }, 'such as layout: redisson({ … }); for a filter of its own leave it out.'],
  ])('is refused with how to write it: %s', (_, options, advice) => {
    expect(() => define(options)).toThrow(BloomConfigError);
    expect(() => define(options)).toThrow(/^Filter 'products': expected layout/);
    expect(() => define(options)).toThrow(advice);
  });

  it('is refused as an option of its own', () => {
    expect(() => define({ scaling: { expansion: 3 } })).toThrow("expected no option 'scaling'");
  });
});

describe('A lease of copies', () => {
  it.each<[string, Given, number | undefined]>([
    ['is a second long', { replica: 'leased' }, 1000],
    ['is as long as it is said', { replica: 'leased', leaseMs: 250 }, 250],
    ['may be that of other processes', { replica: 'off', leaseMs: 250 }, 250],
    ['is not there unless it is asked for', { replica: 'verified' }, undefined],
    ['nor by default', {}, undefined],
  ])('%s', (_, options, leaseMs) => {
    const definition = define(options);
    expect(definition.copyLeaseMs).toBe(leaseMs);
    // The right to rebuild is another lease.
    expect(definition.leaseMs).toBe(30_000);
  });

  it.each<[Given, RegExp]>([
    [
      { replica: 'leased', partitions: 16 },
      /expected replica to be 'off', 'verified' or 'covered' with partitions/,
    ],
    [
      { replica: 'leased', partitions: true },
      /expected replica to be 'off', 'verified' or 'covered' with partitions/,
    ],
    [{ leaseMs: 250, partitions: 16 }, /expected leaseMs to be left out with partitions/],
  ])('is refused with partitions (%j)', (options, error) => {
    expect(() => define(options)).toThrow(BloomConfigError);
    expect(() => define(options)).toThrow(error);
  });
});
