import { Random } from '../../../test/support/random.js';
import { type ActorPlan, type Fault, NEW_IDS, OLD_ROWS, type Operation, type Scenario } from '../scenario.js';
import { scalingGround } from './scaling-ground.js';

/** As often as it stands here. What is lost stays lost: there is no source. */
const FAULTS: readonly (readonly Fault[])[] = [
  ['lease-gone'],
  ['lease-gone'],
  ['pause'],
  ['pause-before-grow'],
  ['kill'],
  ['meta-gone'],
  ['live-gone'],
  ['live-zeros'],
  ['all-gone'],
  ['reply-lost'],
  ['late'],
  ['twice'],
  ['snapshot', 'restart'],
  ['snapshot', 'restart'],
];

/** Share of scenarios about a swap that the server gets late. */
const LATE_SWAP_SHARE = 0.15;
/** What each process adds in them. */
const LATE_IDS: readonly string[] = ['i', 'j', 'k', 'l', 'm', 'n'];

/** Processes add to a filter that is soon full, look up in it, and sometimes empty it. */
export function scalingScenario(seed: number): Scenario {
  const random = new Random(seed);
  const chance = (share: number) => random.below(1_000) < share * 1_000;
  const choose = <Item>(items: readonly Item[]): Item => random.choose(items);
  const instanceCount = 2 + random.below(2);
  const capacity = choose([2, 3, 3, 10]);
  const scaling = { expansion: choose([1, 2]) };
  const plan = { capacity, pageSize: 1, single: false, counts: false, hasReplica: false, shares: false };
  const instances = Array.from({ length: instanceCount }, () => plan);

  const on = () => random.below(instanceCount);
  const ids = random.shuffle([...NEW_IDS]).slice(0, 3 + random.below(3));
  const isMade = chance(0.8);
  const all = isMade ? [...ids, ...OLD_ROWS] : [...ids];
  const actors: ActorPlan[] = [];
  while (ids.length > 0) {
    const batch = ids.splice(0, 1 + random.below(2));
    const operations: Operation[] = [
      { type: 'add', ids: batch },
      { type: 'check', ids: [choose(all)], how: 'guard' },
    ];
    actors.push({ instance: on(), operations: chance(0.3) ? operations.toReversed() : operations });
  }
  for (let checkers = 1 + random.below(3); checkers > 0; checkers--) {
    const operations = Array.from({ length: 1 + random.below(3) }, (): Operation => {
      const how = choose(['guard', 'bulk'] as const);
      return { type: 'check', how, ids: how === 'guard' ? [choose(all)] : all };
    });
    actors.push({ instance: on(), operations });
  }
  if (chance(0.35)) actors.push({ instance: on(), operations: [{ type: 'reset' }] });
  if (chance(0.15)) actors.push({ instance: on(), operations: [{ type: 'reset' }] });
  const faults = Array.from({ length: random.below(4) }, () => choose(FAULTS)).flat();
  const isOfLateSwap = new Random(seed ^ 0x1b873593).below(100) < 100 * LATE_SWAP_SHARE;
  return {
    seed,
    hasSource: false,
    instances,
    ...(isOfLateSwap ? lateSwap(on(), instanceCount) : { actors, faults }),
    isSettled: false,
    leapWeight: 0,
    slowShare: choose([0, 0.1, 0.3]),
    ground: (filterName) => scalingGround({ filterName, capacity, scaling, isMade }),
  };
}

/** One process empties the filter and gives its swap up; meanwhile the others add ids and look them up. */
function lateSwap(resetting: number, instanceCount: number): Pick<Scenario, 'actors' | 'faults'> {
  const actors: ActorPlan[] = [{ instance: resetting, operations: [{ type: 'reset' }] }];
  for (let instance = 0; instance < instanceCount; instance++) {
    if (instance === resetting) continue;
    const operations = LATE_IDS.flatMap((letter): Operation[] => {
      const ids = [`${letter}${instance}`];
      return [
        { type: 'add', ids },
        { type: 'check', ids, how: 'bulk' },
      ];
    });
    actors.push({ instance, operations });
  }
  return { actors, faults: ['late-swap', 'late-swap'] };
}
