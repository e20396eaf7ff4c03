import { type ForeignAdds, redisson, goZero } from '@nestjs-bloom/interop';
import type { BloomLayout } from '../../../src/filter/index.js';
import type { BitmapFormat, BitmapSize } from '../../../packages/interop/src/redis/bitmap/bitmap-format.js';
import { goZeroFormat } from '../../../packages/interop/src/formats/go-zero.js';
import { redissonFormat } from '../../../packages/interop/src/formats/redisson.js';
import type { Peer } from '../../../packages/interop/test/support/peers/peer.js';
import { goZeroPeer } from '../../../packages/interop/test/support/peers/go-zero-peer.js';
import { redissonPeer } from '../../../packages/interop/test/support/peers/redisson-peer.js';

/** What one kind of peers has under a key. */
export interface ForeignKind {
  readonly peer: Peer;
  readonly size: BitmapSize;
  /** A smaller one, that somebody may give the filter. */
  readonly otherSize?: BitmapSize;
  layout(key: string): BloomLayout;
  format(key: string): BitmapFormat;
}

/** Several canaries, and hardly a chance that an absent id passes. */
const BITS = 2000;
export const CAPACITY = 50;
const TARGET = { capacity: CAPACITY, errorRate: 1e-6 };
const PLAN = { ...TARGET, maxIdBytes: 64 };
const RESIZED = { codec: 'StringCodec', resize: true } as const;
/** Rebuilds of instances with a greater capacity change the size. */
export const REDISSON_CAPACITIES = [CAPACITY, CAPACITY, 4 * CAPACITY];

/** A script sets all bits of an id. */
export function goZeroKind(foreignAdds: ForeignAdds): ForeignKind {
  const options = (key: string) => ({ key, bits: BITS, foreignAdds });
  const format = (key: string) => goZeroFormat(options(key), PLAN);
  const size: BitmapSize = { ...format('any').fixed!, target: TARGET, rebuildCapacity: Infinity };
  return { peer: goZeroPeer(BITS), size, layout: (key) => goZero(options(key)), format };
}

/** A command for each bit, as programs send that know where the bits are. */
export function bitByBitKind(foreignAdds: ForeignAdds): ForeignKind {
  const kind = goZeroKind(foreignAdds);
  const located = goZero.layout({ bits: BITS });
  const add: Peer['add'] = async (client, key, id) => {
    for (const offset of located.positions(id)) await client.setbit(key, offset, 1);
    return undefined;
  };
  return { ...kind, peer: { ...kind.peer, add } };
}

/** The size stands in a hash beside the string, and may change. */
export function redissonKind(foreignAdds: ForeignAdds): ForeignKind {
  const options = (name: string) => ({ name, ...RESIZED, foreignAdds });
  const peer = redissonPeer(RESIZED, TARGET, { resize: true });
  const sizeFor = (target: typeof TARGET): BitmapSize => ({
    ...redisson.size(target),
    target,
    rebuildCapacity: target.capacity,
  });
  const size = sizeFor(TARGET);
  const otherSize = sizeFor({ ...TARGET, capacity: CAPACITY / 2 });
  const layout = (name: string) => redisson(options(name));
  return { peer, size, otherSize, layout, format: (name) => redissonFormat(options(name)) };
}
