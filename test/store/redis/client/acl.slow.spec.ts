import { redissonPeer } from '../../../../packages/interop/test/support/peers/redisson-peer.js';
import { blocked } from '../../../../src/filter/index.js';
import { describeKind } from './acl-contract.js';

describeKind('a shared negative cache', {
  rows: ['every filter', '`blocked`'],
  layout: () => blocked,
  negativeCache: { lifeMs: 5000, maxIds: 100 },
});
describeKind('Redisson', {
  rows: ['every filter', 'bits'],
  layout: redissonPeer({ codec: 'StringCodec' }).layout,
});
