import { Random } from '../../../test/support/random.js';
import { type ActorPlan, type Fault, NEW_IDS, OLD_ROWS, type Operation, type Scenario } from '../scenario.js';
import { blockedGround } from './blocked-ground.js';

const IMPORTED = 'h';
/** As often as it stands here. */
const FAULTS: readonly (readonly Fault[])[] = [
  ['readers-gone'],
  ['readers-gone'],
  ['readers-gone'],
  ['readers-gone'],
  ['feed-gone'],
  ['feed-trimmed'],
  ['feed-trimmed'],
  ['feed-cut'],
  ['feed-cut'],
  ['stop'],
  ['stop'],
  ['suspend'],
  ['wall-clock-back'],
  ['server-clock-forward'],
  ['server-clock-back'],
  ['kill-any'],
  ['restart-empty'],
  ['meta-gone'],
  ['meta-gone'],
  ['live-gone'],
  ['live-gone'],
  ['all-gone'],
  ['staging-gone'],
  ['reply-lost'],
  ['late'],
  ['twice'],
  ['lease-gone'],
];
const UNTRUSTED_FAULTS: readonly (readonly Fault[])[] = [['snapshot', 'restart']];
/** Whoever trusts a server is not to meet one that lacks what it had acknowledged. */
const TRUSTED_FAULTS: readonly (readonly Fault[])[] = Array.from({ length: 8 }, () => [
  'snapshot',
  'restart-trusted',
]);
/** Share of scenarios about entries that are gone before they are read. */
const GAPS_SHARE = 0.1;
const GAPS: readonly Fault[] = Array.from({ length: 6 }, () => 'feed-trimmed');
/** Share of scenarios about stagings that readers copy before they go live. */
const STAGINGS_SHARE = 0.25;
/** As often as it stands here. */
const STAGINGS: readonly (readonly Fault[])[] = [
  ['announcer-killed'],
  ['announcer-killed', 'announcement-late'],
  ['announcer-killed', 'announcement-lost'],
  ['announcement-late'],
  ['announcement-lost'],
  ['live-gone-announced'],
  ['live-gone-announced'],
  ['live-gone-announced', 'stop'],
  ['live-gone-announced', 'stop'],
  ['staging-gone'],
  ['feed-cut'],
  ['feed-trimmed'],
  ['readers-gone'],
  ['meta-gone'],
  ['stop'],
  ['stop', 'stop'],
];
/** A rebuild dies whose staging has been copied, and the next one swaps before readers hear of it. */
const DEATHS: readonly Fault[] = ['announcer-killed-copied', 'announcement-lost-next'];
/** A filter is lost while a staging is announced, and a reader hears of it after the swap. */
const LOSS: readonly Fault[] = ['live-gone-copied'];
/** What few schedules come to by chance. */
const SPECIAL: readonly (readonly Fault[])[] = [DEATHS, LOSS];
/** Share of scenarios about a wall clock that is set back, each one beside another. */
const CLOCKS_SHARE = 0.03;
const CLOCKS: readonly Fault[] = ['stop-set-back', 'stop-set-back'];
/** Share of scenarios about a trusted snapshot that lacks the last number of the feed. */
const LAGGING_SHARE = 0.03;
const LAGGING: readonly Fault[] = ['snapshot-lacks-add', 'restart-trusted'];
/** Share of scenarios about a trusted snapshot whose metadata know of no lease. */
const FORGETFUL_SHARE = 0.04;
const FORGETFUL: readonly Fault[] = ['restart-forgetful'];
/** So that a reader may do without a renewal for as long as a rebuild takes. */
const LONG_LEASE_MS = 400;
/** Capacities of the filters that scenarios begin with: one block, and several. */
const TEMPLATES = [0, 2];
const CAPACITY = [10, 2, 2_000];

/**
 * Processes answer "absent" from their copies, while others and they themselves add, rebuild and empty the
 * filter.
 */
export function leasedScenario(seed: number): Scenario {
  const random = new Random(seed);
  const chance = (share: number) => random.below(1_000) < share * 1_000;
  const choose = <Item>(items: readonly Item[]): Item => random.choose(items);
  const leaseMs = choose([60, 150, 400]);
  const hasSource = chance(0.8);
  const template = choose(TEMPLATES);
  const isReady = !hasSource || chance(0.85);
  const instanceCount = 2 + random.below(3);
  const instances = Array.from({ length: instanceCount }, (_, index) => ({
    capacity: CAPACITY[template]!,
    pageSize: 100,
    single: false,
    counts: true,
    hasReplica: index === 0 || chance(0.65),
    shares: false,
  }));
  const on = () => random.below(instanceCount);
  const rest = (): Operation => ({ type: 'rest', ms: random.below(2 * leaseMs) });

  const ids = random.shuffle([...NEW_IDS]).slice(0, 1 + random.below(3));
  const asked = hasSource ? [...ids, ...OLD_ROWS, IMPORTED] : [...ids];
  const look = (): Operation => ({ type: 'check', ids: [choose(asked)], how: 'guard' });
  const actors: ActorPlan[] = [];
  for (const id of ids) {
    // Sometimes two processes add the same.
    for (let adders = chance(0.3) ? 2 : 1; adders > 0; adders--) {
      const operations: Operation[] = [rest(), { type: 'add', ids: [id] }, look()];
      if (hasSource) operations.push({ type: 'commit', ids: [id] });
      actors.push({ instance: on(), operations });
    }
  }
  instances.forEach(({ hasReplica }, instance) => {
    if (!hasReplica) return;
    const operations = Array.from({ length: 1 + random.below(3) }, () => [look(), rest()]).flat();
    actors.push({ instance, operations });
  });
  // A row comes by a way that adds nothing: it is promised from the commit of a rebuild that has read it.
  if (hasSource && chance(0.5)) {
    actors.push({ instance: on(), operations: [rest(), { type: 'commit', ids: [IMPORTED] }] });
  }
  const rebuild: Operation = { type: hasSource ? 'rebuild' : 'reset' };
  if (!isReady || chance(0.5))
    actors.push({ instance: on(), operations: isReady ? [rest(), rebuild] : [rebuild] });
  if (chance(0.2)) actors.push({ instance: on(), operations: [rest(), rebuild] });

  const ofStagings = new Random(seed ^ 0x27d4eb2f);
  const isOfStagings = hasSource && ofStagings.below(100) < 100 * STAGINGS_SHARE;
  const special = isOfStagings ? SPECIAL[ofStagings.below(4)] : undefined;
  if (special === LOSS) {
    // Whoever has no copy finds it out.
    instances[instanceCount - 1] = { ...instances.at(-1)!, hasReplica: false };
    actors.push(...actorsOfLoss(ofStagings, { instanceCount, ids }));
  } else if (special) actors.push(...actorsOfDeaths(ofStagings, { instanceCount, ids }));
  else if (isOfStagings) actors.push(...actorsOfStagings(ofStagings, { instanceCount, leaseMs, ids }));

  const trust = chance(0.35);
  const directed = special || isOfStagings || !isReady ? undefined : directedFaults(seed);
  const isTrusted = trust || directed === LAGGING || directed === FORGETFUL;
  if (directed === FORGETFUL) {
    instances.forEach((plan, i) => (instances[i] = { ...plan, hasReplica: i < instanceCount - 1 }));
    actors.splice(0, Infinity, ...actorsOfForgetful(new Random(~seed), instanceCount));
  }
  const kinds = [...FAULTS, ...(trust ? TRUSTED_FAULTS : UNTRUSTED_FAULTS)];
  const isOfGaps = new Random(seed ^ 0x1b873593).below(100) < 100 * GAPS_SHARE;
  const faultsOfStagings = isOfStagings
    ? Array.from({ length: 1 + ofStagings.below(2) }, () => ofStagings.choose(STAGINGS)).flat()
    : undefined;
  const otherFaults = isOfGaps ? GAPS : Array.from({ length: random.below(4) }, () => choose(kinds)).flat();
  const faults = special ?? faultsOfStagings ?? directed ?? otherFaults;
  return {
    seed,
    hasSource,
    instances,
    actors,
    // Only one of the clocks of a machine is wrong at a time.
    faults: faults.includes('suspend') ? faults.filter((fault) => fault !== 'wall-clock-back') : faults,
    isSettled: true,
    leapWeight: 0,
    slowShare: choose([0, 0.1, 0.3]),
    ground: (filterName) =>
      blockedGround({ filterName, template: isReady ? template : undefined, hasTable: false }),
    leased: {
      leaseMs: special || directed === FORGETFUL ? LONG_LEASE_MS : leaseMs,
      isTrusted,
      lateReplies: choose([0, 0.2, 0.5]),
    },
  };
}

/** Share of scenarios that are made for what few come to by chance. */
function directedFaults(seed: number): readonly Fault[] | undefined {
  let share = new Random(seed ^ 0xd3a2646c).below(100) / 100;
  if (share < CLOCKS_SHARE) return CLOCKS;
  share -= CLOCKS_SHARE;
  if (share < LAGGING_SHARE) return LAGGING;
  return share - LAGGING_SHARE < FORGETFUL_SHARE ? FORGETFUL : undefined;
}

/**
 * One process has a copy; another one, without, rebuilds; the rest look up and add for the first time when
 * that generation may be live.
 */
function actorsOfForgetful(random: Random, instanceCount: number): ActorPlan[] {
  const last = instanceCount - 1;
  const wait = (from: number, ms: number): Operation => ({ type: 'rest', ms: from + random.below(ms) });
  const look = (): Operation => ({ type: 'check', ids: [random.choose(NEW_IDS)], how: 'guard' });
  const looks = (first: Operation, count: number) =>
    Array.from({ length: count }, () => [first, look(), wait(10, 30), look()]).flat();
  const adds = NEW_IDS.slice(0, 2).map((id): ActorPlan => {
    const operations: Operation[] = [
      wait(100, 150),
      { type: 'add', ids: [id] },
      { type: 'commit', ids: [id] },
    ];
    return { instance: 1 + random.below(last), operations };
  });
  return [
    { instance: 0, operations: [look(), wait(0, 100)] },
    { instance: last, operations: [look(), wait(20, 40), { type: 'rebuild' }] },
    ...adds,
    ...Array.from({ length: last - 1 }, (_, i) => ({ instance: 1 + i, operations: looks(wait(60, 100), 3) })),
  ];
}

/**
 * Processes rebuild, and others add while a staging is announced: ids that are new, and ids whose last add
 * was rolled back, which are live already.
 */
function actorsOfStagings(
  random: Random,
  { instanceCount, leaseMs, ids }: { instanceCount: number; leaseMs: number; ids: readonly string[] },
): ActorPlan[] {
  const on = () => random.below(instanceCount);
  const pause = (): Operation => ({ type: 'rest', ms: random.below(leaseMs) });
  const rebuilds = Array.from({ length: 1 + random.below(2) }, () => ({
    instance: on(),
    operations: [pause(), { type: 'rebuild' }] satisfies Operation[],
  }));
  const left = NEW_IDS.filter((id) => !ids.includes(id)).slice(0, 1 + random.below(2));
  const adds = left.map((id): ActorPlan => {
    const of = (type: 'add' | 'roll back' | 'commit'): Operation => ({ type, ids: [id] });
    const before = random.below(2) === 0 ? [of('add'), of('roll back')] : [];
    const wait: Operation = { type: 'rest', ms: 5 * leaseMs, untilAnnounced: true };
    const look: Operation = { type: 'check', ids: [id], how: 'guard' };
    return { instance: on(), operations: [...before, wait, of('add'), look, of('commit')] };
  });
  return [...rebuilds, ...adds];
}

/** One process rebuilds after the other has begun to, and ids are added between. */
function actorsOfDeaths(
  random: Random,
  { instanceCount, ids }: { instanceCount: number; ids: readonly string[] },
): ActorPlan[] {
  const first = random.below(instanceCount);
  const second = (first + 1 + random.below(instanceCount - 1)) % instanceCount;
  const untilAnnounced: Operation = { type: 'rest', ms: 3 * LONG_LEASE_MS, untilAnnounced: true };
  const id = NEW_IDS.find((one) => !ids.includes(one))!;
  const of = (type: 'add' | 'commit'): Operation => ({ type, ids: [id] });
  const wait = (): Operation => ({ type: 'rest', ms: random.below(LONG_LEASE_MS / 8) });
  return [
    { instance: first, operations: [{ type: 'rebuild' }] },
    { instance: second, operations: [untilAnnounced, { type: 'rebuild' }] },
    { instance: second, operations: [untilAnnounced, wait(), of('add'), of('commit')] },
  ];
}

/** One process rebuilds, finds the filter lost, and adds after that; others read. */
function actorsOfLoss(
  random: Random,
  { instanceCount, ids }: { instanceCount: number; ids: readonly string[] },
): ActorPlan[] {
  const instance = instanceCount - 1;
  const untilAnnounced: Operation = { type: 'rest', ms: 3 * LONG_LEASE_MS, untilAnnounced: true };
  const id = NEW_IDS.find((one) => !ids.includes(one))!;
  const of = (type: 'add' | 'commit'): Operation => ({ type, ids: [id] });
  const wait = (ms: number): Operation => ({ type: 'rest', ms: random.below(ms) });
  const look: Operation = { type: 'check', ids: [id], how: 'guard' };
  return [
    { instance, operations: [wait(LONG_LEASE_MS), { type: 'rebuild' }] },
    { instance, operations: [untilAnnounced, wait(10), look, wait(10), look, wait(10), look] },
    { instance, operations: [untilAnnounced, wait(60), of('add'), of('commit')] },
  ];
}
