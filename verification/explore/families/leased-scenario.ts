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
  ['acknowledgements-gone'],
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
/** Of scenarios about entries that are gone before they are read. */
const GAPS_SHARE = 0.1;
const GAPS: readonly Fault[] = Array.from({ length: 6 }, () => 'feed-trimmed');
/** Of the filters that scenarios begin with: one block, and several. */
const TEMPLATES = [0, 2];
const CAPACITY = [10, 2, 2_000];

/** Processes answer "absent" from their copies, while others and they themselves add, rebuild and empty the filter. */
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

  const isTrusted = chance(0.35);
  const kinds = [...FAULTS, ...(isTrusted ? TRUSTED_FAULTS : UNTRUSTED_FAULTS)];
  const isOfGaps = new Random(seed ^ 0x1b873593).below(100) < 100 * GAPS_SHARE;
  const faults = isOfGaps ? GAPS : Array.from({ length: random.below(4) }, () => choose(kinds)).flat();
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
    leased: { leaseMs, isTrusted, lateReplies: choose([0, 0.2, 0.5]) },
  };
}
