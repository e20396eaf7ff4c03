import { describeOwnBf, ownBfFixture } from '../../../support/bf-server.js';
import { redissonPeer } from '../../../../packages/interop/test/support/peers/redisson-peer.js';
import { cuckoo, goZero, redisBloom } from '@nestjs-bloom/interop';
import { scaling } from '@nestjs-bloom/interop/scaling';
import { blocked } from '../../../../src/filter/index.js';
import { describeKind } from './acl-contract.js';

describeKind('a filter of layout blocked', {
  rows: ['every filter', '`blocked`'],
  layout: () => blocked,
});
describeKind('go-zero', {
  rows: ['every filter', 'bits'],
  layout: (key) => goZero({ key, bits: 20_000 }),
});
// Rows of rights that the tests above show as well; "npm run test:slow" shows them for these.
describeKind(
  'a shared negative cache',
  {
    rows: ['every filter', '`blocked`'],
    layout: () => blocked,
    negativeCache: { lifeMs: 5000, maxIds: 100 },
  },
  { each: false },
);
describeKind(
  'Redisson',
  {
    rows: ['every filter', 'bits'],
    layout: redissonPeer({ codec: 'StringCodec' }).layout,
  },
  { each: false },
);
describeKind('a filter that grows', {
  rows: ['every filter', '`scaling`'],
  layout: () => scaling(),
  hasSource: false,
});
describeOwnBf('On a server with BF.* and CF.*', () => {
  describeKind('BF.*', {
    rows: ['every filter', '`redisbloom`'],
    layout: (key) => redisBloom({ key }),
    start: ownBfFixture,
  });
  describeKind('CF.*', {
    rows: ['every filter', '`cuckoo`'],
    layout: () => cuckoo(),
    start: ownBfFixture,
  });
});
