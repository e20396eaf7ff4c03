import { Random } from '../../../test/support/random.js';
import { type ActorPlan, type Fault, NEW_IDS, OLD_ROWS, type Operation, type Scenario } from '../scenario.js';
import { blockedGround, templateName } from './blocked-ground.js';

const IMPORTED = 'h';
const FAULTS: readonly Fault[] = [
  'lease-gone',
  'pause',
  'kill',
  'meta-gone',
  'live-gone',
  'staging-gone',
  'all-gone',
  'reply-lost',
  'late',
  'twice',
  'snapshot',
  'restart',
];
/** One block, one block that is soon full, several blocks, and more than one segment. */
export const CAPACITIES = [10, 2, 2_000, 840_000];
const LARGE = 3;
const LARGE_SHARE = 0.03;

export function blockedScenario(seed: number): Scenario {
  const random = new Random(seed);
  const chance = (share: number) => random.below(1_000_000) < share * 1_000_000;
  const choose = <Item>(items: readonly Item[]): Item => random.choose(items);
  const hasSource = !chance(0.08);
  const isLarge = chance(LARGE_SHARE);
  const capacities = isLarge ? [CAPACITIES[0]!, CAPACITIES[LARGE]!] : CAPACITIES.slice(0, LARGE);
  // Few ids, asked for again and again, and time to note what was denied.
  const isOfDenials = hasSource && chance(0.35);
  const instanceCount = 2 + random.below(3);
  const instances = Array.from({ length: instanceCount }, () => ({
    capacity: choose(capacities),
    pageSize: choose([1, 2, 100]),
    single: chance(0.3),
    counts: chance(0.5),
    hasReplica: chance(0.4),
    shares: isOfDenials ? chance(0.8) : chance(0.2),
  }));

  const ids = random.shuffle([...NEW_IDS]).slice(0, isOfDenials ? 1 + random.below(2) : 2 + random.below(4));
  const all = hasSource ? [...ids, ...OLD_ROWS] : [...ids];
  const actors: ActorPlan[] = [];
  const on = () => random.below(instanceCount);
  while (ids.length > 0) {
    const batch = ids.splice(0, 1 + random.below(2));
    const add: Operation = {
      type: 'add',
      ids: hasSource && chance(0.1) ? [...batch, choose(OLD_ROWS)] : batch,
    };
    const commit: Operation = { type: 'commit', ids: batch };
    const look: Operation = { type: 'check', ids: [choose(all)], how: 'guard' };
    const operations = chance(0.25) ? [commit, add] : [add, commit];
    actors.push({ instance: on(), operations: chance(0.5) ? [look, ...operations] : operations });
  }
  const hasTable = !isOfDenials || chance(0.5);
  // The first lookup of a row that is there makes the table.
  const asked = hasTable && isOfDenials ? all.filter((id) => !OLD_ROWS.includes(id)) : all;
  for (let checkers = 2 + random.below(2); checkers > 0; checkers--) {
    const operations = Array.from({ length: 2 + random.below(isOfDenials ? 5 : 3) }, (): Operation => {
      const how = isOfDenials ? 'guard' : choose(['guard', 'guard', 'together', 'bulk'] as const);
      return { type: 'check', how, ids: how === 'guard' ? [choose(asked)] : all };
    });
    actors.push({ instance: on(), operations });
  }
  const rebuilder = random.below(instanceCount);
  const rebuild: Operation = { type: 'rebuild' };
  if (isOfDenials && chance(0.5)) {
    // A create failed, and leaves a false positive. Later the row comes by a way that adds nothing, and the
    // source returns it.
    const of = (type: 'add' | 'roll back' | 'commit'): Operation => ({ type, ids: [IMPORTED] });
    const check: Operation = { type: 'check', ids: [IMPORTED], how: 'guard' };
    const operations = [of('add'), of('roll back'), check, check, of('commit'), rebuild, check];
    actors.push({ instance: on(), operations });
  }
  if (!isOfDenials || chance(0.5)) actors.push({ instance: rebuilder, operations: [rebuild] });
  if (!isOfDenials && chance(0.75)) {
    const other = (rebuilder + 1 + random.below(instanceCount - 1)) % instanceCount;
    actors.push({ instance: other, operations: chance(0.2) ? [rebuild, rebuild] : [rebuild] });
  }
  const template = hasSource && !chance(0.25) ? (isLarge ? LARGE : choose([0, 1, 2])) : undefined;
  return {
    seed,
    hasSource,
    instances,
    actors,
    faults: hasSource
      ? chooseFaults(random)
      : random.shuffle<Fault>(['lease-gone', 'pause', 'kill']).slice(1),
    slowShare: choose([0, 0.1, 0.3]),
    isSettled: chance(0.7),
    leapWeight: isOfDenials ? 0.1 : 0.02,
    ground: (filterName) => blockedGround({ filterName, template, hasTable }),
  };
}

/** A filter that scenarios begin with. */
export function templateScenario(number: number): Scenario {
  const capacity = CAPACITIES[number]!;
  return {
    seed: number,
    hasSource: true,
    instances: [{ capacity, pageSize: 100, single: false, counts: true, hasReplica: false, shares: true }],
    actors: [{ instance: 0, operations: [{ type: 'rebuild' }, { type: 'check', ids: ['c'], how: 'guard' }] }],
    faults: [],
    slowShare: 0,
    isSettled: false,
    leapWeight: 0,
    ground: () => blockedGround({ filterName: templateName(number), template: undefined, hasTable: false }),
  };
}

function chooseFaults(random: Random): Fault[] {
  // What a lease is for, and what a server's run id is for, come in pairs.
  const kinds: readonly (readonly Fault[])[] = [
    ...FAULTS.map((fault) => [fault]),
    ['pause'],
    ['pause'],
    ['meta-gone'],
    ['staging-gone'],
    ['snapshot', 'restart'],
    ['snapshot', 'restart'],
    ['lease-gone', 'pause'],
  ];
  return Array.from({ length: random.below(4) }, () => random.choose(kinds)).flat();
}
