import { describe, expect, it } from '@jest/globals';
import { findViolations } from './support/architecture.js';
import { findCircles } from './support/imports.js';
import { house } from './support/small-house.js';
import { findWingViolations, readSources, readWing, wingNames } from './support/wings.js';

describe('The house', () => {
  it('keeps its rules', () => {
    expect(findViolations(readSources('src'))).toEqual([]);
  });

  it('has files on the lower floors at least, so that they were looked at', () => {
    const files = [...readSources('src').keys()];
    expect(files).toEqual(expect.arrayContaining(['common/index.ts', 'filter/index.ts', 'store/index.ts']));
  });
});

describe('A wing', () => {
  it.each(wingNames())('keeps its rules: %s', (name) => {
    const wing = readWing(name);
    expect([...wing.sources.keys()]).toContain(name === 'cli' ? 'main.ts' : 'index.ts');
    expect(findWingViolations(wing)).toEqual([]);
  });

  it.each<[what: string, text: string, violation: string]>([
    ['a file of the core', `import '../../../src/index.js';`, 'a wing imports no file beyond its src'],
    ['a file of another wing', `import '../../prisma/src/index.js';`, 'no file beyond its src'],
    ['another wing', `import '@nestjs-bloom/prisma';`, 'it is no peer of this wing'],
    ['the library of another wing', `import type {} from 'kysely';`, 'it is no peer of this wing'],
    ['itself in a circle', `import '../index.js';`, 'circle: index.ts → a/b.ts → index.ts'],
    ['what the core does not export', `export * from 'nestjs-bloom/dist/guard/index.js';`, 'no such entry'],
  ])('is forbidden to import %s', (_, text, violation) => {
    const sources = new Map([
      ['index.ts', `import 'node:fs'; import 'nestjs-bloom/sources'; import 'typeorm'; import './a/b.js';`],
      ['a/b.ts', text],
    ]);
    const wing = { packages: ['nestjs-bloom', 'typeorm'], sources };
    expect(findWingViolations(wing)).toEqual([expect.stringContaining(violation)]);
  });
});

it('The programs of verification import one another in no circle', () => {
  const sources = readSources('verification');
  expect([...sources.keys()]).toContain('explore/schedule.ts');
  expect(findCircles(sources)).toEqual([]);
});

describe('The rules', () => {
  it('are kept by a sound house', () => {
    expect(findViolations(house())).toEqual([]);
  });

  it.each<[rule: string, file: string, text: string, violation: string]>([
    ['upwards', 'filter/id.ts', `import '../store/index.js';`, 'imports go downwards only'],
    [
      'upwards for a type',
      'common/errors.ts',
      `import type { Id } from '../filter/index.js';`,
      'downwards only',
    ],
    [
      'upwards by a type expression',
      'store/store.ts',
      `let a: import('../service/index.js').B;`,
      'downwards only',
    ],
    ['upwards by import()', 'rebuild/index.ts', `void import('../service/index.js');`, 'downwards only'],
    [
      'upwards by require()',
      'rebuild/index.ts',
      `import a = require('../service/index.js');`,
      'downwards only',
    ],
    ['upwards by a re-export', 'rebuild/index.ts', `export * from '../service/index.js';`, 'downwards only'],
    [
      'past an index.ts',
      'rebuild/index.ts',
      `import '../filter/id.js';`,
      'filter is entered through its index.ts',
    ],
    [
      'past an index.ts from the entry',
      'index.ts',
      `export * from './filter/id.js';`,
      'entered through its index.ts',
    ],
    ['its own index.ts', 'filter/id.ts', `import './index.js';`, 'never imports its own index.ts'],
    [
      'its own index.ts in a store',
      'store/redis/blocked/add.ts',
      `import '../../redis/index.js';`,
      'never imports its own index.ts',
    ],
    [
      'the contract past its index.ts',
      'store/memory/memory-store.ts',
      `import '../store.js';`,
      'store is entered through',
    ],
    [
      'a store from the contract',
      'store/store.ts',
      `import './memory/index.js';`,
      'only module, internal-entry.ts name a store',
    ],
    [
      'a store from another store',
      'store/redis/blocked/add.ts',
      `import '../../memory/index.js';`,
      'only module, internal-entry.ts name a',
    ],
    [
      'a store from rebuild',
      'rebuild/index.ts',
      `import '../store/memory/index.js';`,
      'only module, internal-entry.ts name a store',
    ],
    [
      'a store from the entry',
      'index.ts',
      `export * from './store/redis/index.js';`,
      'only module, internal-entry.ts name a store',
    ],
    [
      'a kind of filter from the protocol',
      'store/redis/swap/swap.ts',
      `import type {} from '../blocked/add.js';`,
      'imports go downwards only',
    ],
    [
      'what wings use from inside',
      'module/index.ts',
      `import '../internal-entry.js';`,
      'the entry of the package is for its users',
    ],
    [
      'the store from one of its rooms',
      'store/redis/blocked/table.ts',
      `import '../redis-store.js';`,
      'imports go downwards only',
    ],
    [
      'the entry from inside',
      'service/index.ts',
      `import '../index.js';`,
      'the entry of the package is for its users',
    ],
    [
      'Nest from filter',
      'filter/id.ts',
      `import { Logger } from '@nestjs/common';`,
      'filter is pure mathematics',
    ],
    [
      'ioredis from filter',
      'filter/id.ts',
      `import type { Redis } from 'ioredis';`,
      'filter is pure mathematics',
    ],
    ['Nest from rebuild', 'rebuild/index.ts', `import { Logger } from '@nestjs/common';`, 'know Nest'],
    [
      'Nest from a store',
      'store/redis/index.ts',
      `import '@nestjs/common/interfaces/index.js';`,
      'know Nest',
    ],
    ['Nest from common', 'common/errors.ts', `import type { Type } from '@nestjs/core';`, 'know Nest'],
    ['ioredis from rebuild', 'rebuild/index.ts', `import type { Redis } from 'ioredis';`, 'know ioredis'],
    ['the library of a wing', 'module/index.ts', `import '@nestjs/throttler';`, 'the core needs no such'],
    [
      'the entry for wings',
      'module/index.ts',
      `import '../integrations/index.js';`,
      'the entry of the package is for its users',
    ],
    ['a wing', 'sources/index.ts', `import '@nestjs-bloom/typeorm';`, 'the core needs no such package'],
    ['the package itself', 'guard/index.ts', `import 'nestjs-bloom';`, 'the core needs no such package'],
    ['a file of a wing', 'index.ts', `import '../packages/typeorm/src/index.js';`, 'there is no such file'],
    [
      'a neighbour',
      'integrations/metrics.ts',
      `import '../testing/index.js';`,
      'neighbours on a floor never import',
    ],
    ['a file that is not there', 'rebuild/index.ts', `import './gone.js';`, 'there is no such file'],
  ])('forbid to import %s', (_, file, text, violation) => {
    const violations = findViolations(house({ [file]: text })).filter((one) => !one.startsWith('circle'));
    expect(violations).toEqual([expect.stringContaining(violation)]);
    expect(violations[0]).toContain(file);
  });

  it('forbid circles, of types too', () => {
    const changes = {
      'filter/id.ts': `import type { Key } from './key.js';`,
      'filter/key.ts': `export * from './hash.js';`,
      'filter/hash.ts': `import { id } from './id.js';`,
    };
    expect(findViolations(house(changes))).toEqual([
      'circle: filter/id.ts → filter/key.ts → filter/hash.ts → filter/id.ts',
    ]);
  });

  it('forbid a file that imports itself', () => {
    expect(findViolations(house({ 'filter/id.ts': `import './id.js';` }))).toEqual([
      'circle: filter/id.ts → filter/id.ts',
    ]);
  });

  it('know every folder', () => {
    expect(findViolations(house({ 'utils/misc.ts': '' }))).toEqual(['utils/misc.ts is on no floor']);
    expect(findViolations(house({ 'store/redis/misc/a.ts': '' }))).toEqual([
      'store/redis/misc/a.ts is in no room',
    ]);
  });

  it('guard no room that there is not', () => {
    const sources = house({ 'store/redis/redis-store.ts': `import './redis.messages.js';` });
    sources.delete('store/redis/blocked/add.ts');
    expect(findViolations(sources)).toEqual(['store/redis/blocked is guarded, and there is no such room']);
  });

  it.each(['filter-entry.ts', 'store/redis/redis.messages.ts'])(
    'name no file that there is not: %s',
    (file) => {
      const sources = house({
        'store/redis/redis-store.ts': `import './blocked/add.js';`,
      });
      sources.delete(file);
      expect(findViolations(sources)).toEqual([`${file} is guarded, and there is no such file`]);
    },
  );
});
