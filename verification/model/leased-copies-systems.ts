import { buildLeasedCopies, type LeasedCopiesSize } from './leased-copies.js';
import { SAFETIES } from './leased-copies-safeties.js';
import { type Protocol, systemsOf } from './model.js';

const system = systemsOf(buildLeasedCopies);

/** A reader, an adder and a rebuild, of which nothing is lost. */
const SMALLEST: LeasedCopiesSize = {
  readers: 1,
  adders: 1,
  rebuilds: 1,
  losses: 0,
  others: 0,
  hasSource: true,
  readersAdd: false,
  announces: false,
};

export const leasedCopies: Protocol<keyof typeof SAFETIES> = {
  name: 'leased-copies',
  safeties: SAFETIES,
  systems: [
    system(
      'two readers that add too, an adder, a rebuild, a loss',
      { ...SMALLEST, readers: 2, losses: 1, readersAdd: true },
      {
        shows: [
          'number-before-load',
          'one-server',
          'renew-applied',
          'ack-applied',
          'wait-readers',
          'swap-entry',
          'tag-in-entry',
          'wait-lost',
          'new-waits',
          'until-in-meta',
          'same-list',
          'same-server',
          'lease-ends',
          'before-asking',
          'own-copy',
        ],
      },
    ),
    system(
      'two readers, an adder, a rebuild, a server that comes back from before the first lease',
      { ...SMALLEST, readers: 2, losses: 1, forgets: true },
      { shows: ['unseen-waits', 'unseen-swap'] },
    ),
    system('two readers, an adder, a reset, a server that comes back from before the first lease', {
      ...SMALLEST,
      readers: 2,
      losses: 1,
      hasSource: false,
      forgets: true,
    }),
    system(
      'a reader that adds too, two adders, two rebuilds, a loss',
      { ...SMALLEST, adders: 2, rebuilds: 2, losses: 1, readersAdd: true },
      { shows: ['repeat-waits'] },
    ),
    system('a reader that adds too, two adders, two resets, a loss', {
      ...SMALLEST,
      adders: 2,
      rebuilds: 2,
      losses: 1,
      hasSource: false,
      readersAdd: true,
    }),
    system('two readers, two adders, a rebuild', { ...SMALLEST, readers: 2, adders: 2 }),
    system('three readers, an adder, a rebuild', { ...SMALLEST, readers: 3 }),
    system('three readers, two adders', { ...SMALLEST, readers: 3, adders: 2, rebuilds: 0 }),
    system('three readers, an adder, a loss', { ...SMALLEST, readers: 3, rebuilds: 0, losses: 1 }),
    system('three readers, a rebuild, a loss', { ...SMALLEST, readers: 3, adders: 0, losses: 1 }),
    system(
      'a reader that adds too, an adder, a rebuild, a loss, an add of another id or a trim',
      { ...SMALLEST, losses: 1, others: 1, readersAdd: true },
      { shows: ['gap-seen', 'message-follows', 'feed-identity'] },
    ),
    system('two readers, an adder, a loss, an add of another id or a trim', {
      ...SMALLEST,
      readers: 2,
      rebuilds: 0,
      losses: 1,
      others: 1,
    }),
    system(
      'a reader that copies stagings and adds too, an adder, two rebuilds, a loss',
      { ...SMALLEST, rebuilds: 2, losses: 1, readersAdd: true, announces: true },
      {
        shows: [
          'announced-whole',
          'announced-first',
          'next-in-entry',
          'next-whole',
          'next-of-swap',
          'announced-live',
        ],
      },
    ),
    system(
      'a reader that copies stagings, two adders, a reset',
      { ...SMALLEST, adders: 2, hasSource: false, announces: true },
      { shows: ['next-repeats'] },
    ),
    system('two readers that copy stagings, an adder, a rebuild', {
      ...SMALLEST,
      readers: 2,
      announces: true,
    }),
    system(
      'a reader that copies stagings and adds too, an adder, a rebuild, a loss, an add of another id or a trim',
      { ...SMALLEST, losses: 1, others: 1, readersAdd: true, announces: true },
    ),
    system(
      'two readers that copy stagings, an adder, a rebuild, a loss',
      { ...SMALLEST, readers: 2, losses: 1, announces: true },
      { isLarge: true },
    ),
    system(
      'a reader that adds too, an adder, a rebuild, two losses, two adds of other ids or trims',
      { ...SMALLEST, losses: 2, others: 2, readersAdd: true },
      { isLarge: true },
    ),
    system(
      'two readers, two adders, a rebuild, a loss',
      { ...SMALLEST, readers: 2, adders: 2, losses: 1 },
      { isLarge: true },
    ),
    system(
      'three readers, an adder, a reset',
      { ...SMALLEST, readers: 3, hasSource: false },
      { isLarge: true },
    ),
  ],
};
