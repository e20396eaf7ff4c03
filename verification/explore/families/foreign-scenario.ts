import type { ForeignAdds } from '@nestjs-bloom/interop';
import { Random } from '../../../test/support/random.js';
import { type ActorPlan, type Fault, NEW_IDS, OLD_ROWS, type Operation, type Scenario } from '../scenario.js';
import { foreignGround } from './foreign-ground.js';
import { CAPACITY, goZeroKind, REDISSON_CAPACITIES, redissonKind, bitByBitKind } from './foreign-kinds.js';

/** What a rebuild may meet; as often as it stands here. */
const WITH_SOURCE: readonly (readonly Fault[])[] = [
  ['lease-gone'],
  ['pause'],
  ['pause'],
  ['kill'],
  ['meta-gone'],
  ['live-gone'],
  ['live-gone'],
  ['live-gone'],
  ['live-zeros'],
  ['live-cut'],
  ['staging-gone'],
  ['staging-gone'],
  ['all-gone'],
  ['reply-lost'],
  ['late'],
  ['twice'],
  ['snapshot', 'restart'],
  ['snapshot', 'restart'],
  ['snapshot', 'restart'],
  ['lease-gone', 'pause'],
];
/**
 * More of what matters when bits of the live string are not kept, when peers add, and when settings stand
 * beside the string.
 */
const WITHOUT_LIVE_BITS: typeof WITH_SOURCE = Array.from({ length: 10 }, () => ['pause-before-swap']);
const WITH_PEER_ADDS: typeof WITH_SOURCE = Array.from({ length: 8 }, () => ['live-gone']);
const WITH_SETTINGS: typeof WITH_SOURCE = Array.from({ length: 5 }, () => ['settings-other']);
/**
 * Without a source the metadata and the key must not both vanish: the next process would take what peers have
 * added since for all.
 */
const WITHOUT_SOURCE: readonly (readonly Fault[])[] = [
  ['meta-gone'],
  ['live-gone'],
  ['live-zeros'],
  ['live-cut'],
  ['settings-other'],
  ['reply-lost', 'late'],
];

/** Share of scenarios in which a peer writes back a string that it has read before. */
const PUT_BACK_SHARE = 0.25;
/** Share of scenarios in which a string that is cut loses its last byte only. */
const CUT_BYTE_SHARE = 0.4;

/** Peers add to the key of a filter that processes look up in, add to and rebuild. */
export function foreignScenario(seed: number): Scenario {
  const random = new Random(seed);
  const chance = (share: number) => random.below(1_000) < share * 1_000;
  const choose = <Item>(items: readonly Item[]): Item => random.choose(items);
  const hasSource = chance(0.85);
  const foreignAdds: ForeignAdds = hasSource ? choose(['keep', 'keep', 'none', 'none', 'keep']) : 'keep';
  const kind = choose([goZeroKind, goZeroKind, redissonKind, bitByBitKind])(foreignAdds);
  // No rebuild keeps all of what peers add meanwhile unless it keeps every bit.
  const isRedisson = kind.layout('any').kind === 'redisson';
  const isResized = isRedisson && chance(0.4);
  const hasPeerAdds = foreignAdds === 'keep';
  const start = hasSource
    ? choose(['ready', 'ready', 'filled', 'nothing'] as const)
    : choose(['ready', 'filled'] as const);
  const instanceCount = 2 + random.below(2);
  const instances = Array.from({ length: instanceCount }, () => ({
    capacity: isResized ? choose(REDISSON_CAPACITIES) : CAPACITY,
    pageSize: choose([1, 2, 100]),
    single: false,
    counts: chance(0.5),
    hasReplica: false,
    shares: false,
  }));

  const on = () => random.below(instanceCount);
  const ids = random.shuffle([...NEW_IDS]).slice(0, 2 + random.below(3));
  const all = [...ids, ...OLD_ROWS];
  const actors: ActorPlan[] = [];
  for (const id of ids) {
    const type = hasPeerAdds && chance(0.6) ? 'peer add' : 'add';
    const operations: Operation[] = [{ type, ids: [id] }];
    if (hasSource) operations.splice(chance(0.15) ? 0 : 1, 0, { type: 'commit', ids: [id] });
    actors.push({ instance: on(), operations });
  }
  for (let checkers = 1 + random.below(3); checkers > 0; checkers--) {
    const operations = Array.from({ length: 1 + random.below(3) }, (): Operation => {
      const how = choose(['guard', 'guard', 'bulk'] as const);
      return { type: 'check', how, ids: how === 'guard' ? [choose(all)] : all };
    });
    actors.push({ instance: on(), operations });
  }
  if (hasSource) {
    const rebuilder = on();
    actors.push({ instance: rebuilder, operations: [{ type: 'rebuild' }] });
    if (foreignAdds === 'none' || chance(0.6)) {
      const other = (rebuilder + 1) % instanceCount;
      actors.push({ instance: other, operations: [{ type: 'rebuild' }] });
    }
  }
  const met = [
    ...WITH_SOURCE,
    ...(foreignAdds === 'none' ? WITHOUT_LIVE_BITS : []),
    ...(hasPeerAdds ? WITH_PEER_ADDS : []),
    ...(isRedisson ? WITH_SETTINGS : []),
  ];
  const faults = hasSource
    ? Array.from({ length: random.below(4) }, () => choose(met)).flat()
    : choose(WITHOUT_SOURCE).slice(0, random.below(3));
  // Choices of their own generator: those of earlier seeds stay as they were.
  const isShareOf = (salt: number, share: number) => new Random(seed ^ salt).below(100) < 100 * share;
  if (isShareOf(0x1b873593, PUT_BACK_SHARE)) faults.push('copy-live', 'put-back');
  const cut: Fault = isShareOf(0x2c1b3c6d, CUT_BYTE_SHARE) ? 'live-cut-byte' : 'live-cut';
  return {
    seed,
    hasSource,
    instances,
    actors,
    faults: faults.map((fault) => (fault === 'live-cut' ? cut : fault)),
    isSettled: false,
    leapWeight: 0,
    slowShare: choose([0, 0.1, 0.3]),
    ground: (filterName) => foreignGround({ filterName, kind, start }),
  };
}
