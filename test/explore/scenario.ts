import { Random } from '../support/random.js';

export type Operation =
  | { readonly type: 'add'; readonly ids: readonly string[] }
  | { readonly type: 'commit' | 'roll back'; readonly ids: readonly string[] }
  | { readonly type: 'check'; readonly ids: readonly string[]; readonly how: 'guard' | 'together' | 'bulk' }
  | { readonly type: 'rebuild' };

export interface ActorPlan {
  readonly instance: number;
  readonly operations: readonly Operation[];
}

export const FAULTS = [
  'lease-gone',
  'pause',
  'kill',
  'meta-gone',
  'segment-gone',
  'staging-gone',
  'all-gone',
  'reply-lost',
  'late',
  'twice',
  'snapshot',
  'restart',
] as const;
export type Fault = (typeof FAULTS)[number];

/** All that happens in one schedule, but for the order. */
export interface Scenario {
  readonly seed: number;
  /** Filters that stand ready at the start are copied from the template of this number; undefined: never built. */
  readonly template: number | undefined;
  readonly hasSource: boolean;
  readonly instances: readonly {
    readonly capacity: number;
    readonly pageSize: number;
    readonly single: boolean;
    readonly counts: boolean;
    readonly hasReplica: boolean;
    readonly shares: boolean;
  }[];
  readonly actors: readonly ActorPlan[];
  readonly faults: readonly Fault[];
  /** Whether the filter has been live for longer than rows are on their way. */
  readonly isSettled: boolean;
  /** Whether it has a table of denials. */
  readonly hasTable: boolean;
  /** How readily the longest drain passes. */
  readonly leapWeight: number;
  /** Share of commands that are slow. */
  readonly slowShare: number;
}

/** Rows that are there before anything happens. */
export const OLD_ROWS = ['c', 'f'];
const IMPORTED = 'h';
const NEW_IDS = ['a', 'b', 'd', 'e', 'g'];
/** One block, one block that is soon full, several blocks, and more than one segment. */
export const CAPACITIES = [10, 2, 2_000, 840_000];
const LARGE = 3;
const LARGE_SHARE = 0.03;

export function makeScenario(seed: number): Scenario {
  const random = new Random(seed);
  const chance = (share: number) => random.below(1_000_000) < share * 1_000_000;
  const choose = <Item>(items: readonly Item[]): Item => items[random.below(items.length)]!;
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
  const all = hasSource ? [...ids, ...OLD_ROWS] : ids;
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
  // Who first asks for a row that is there makes the table.
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
    // A create failed, and leaves a false positive. Later the row comes by a way that adds nothing, and the source returns it.
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
  return {
    seed,
    template: hasSource && !chance(0.25) ? (isLarge ? LARGE : choose([0, 1, 2])) : undefined,
    hasSource,
    instances,
    actors,
    faults: hasSource
      ? chooseFaults(random)
      : random.shuffle<Fault>(['lease-gone', 'pause', 'kill']).slice(1),
    slowShare: choose([0, 0.1, 0.3]),
    isSettled: chance(0.7),
    hasTable,
    leapWeight: isOfDenials ? 0.1 : 0.02,
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
  return Array.from({ length: random.below(4) }, () => kinds[random.below(kinds.length)]!).flat();
}
