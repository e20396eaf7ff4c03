import { availableParallelism } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import type { Safety } from '../../test/support/broken-lua.js';
import { BUSY_PER_CORE, BusyProcesses } from '../../test/support/busy-processes.js';
import { Attack, INSTANCES } from './attack.js';
import { ERROR_RATE, mostLetThrough } from './attack-share.js';
import type { AttackedOptions, AttackSeen } from './attacked-protocol.js';
import type { Fault, Judgement } from './fault.js';
import { ServerSite } from './redis-site.js';

const NAME = `machine saturated (${BUSY_PER_CORE} busy processes a core)`;
const CALM_MS = 2000;
/** The processes that have just been started take part. */
const SETTLING_MS = 1000;
const CORES = availableParallelism();
/** Redis and this process. */
const OTHERS = 2;
/**
 * What the busy processes have of a core each at the least, if nothing else runs than this row: a tenth is
 * left to the system.
 */
const CLAIMED_SHARE = (0.9 * CORES) / (BUSY_PER_CORE * CORES + INSTANCES + OTHERS);

const BUSIER = `; beside this row alone they have ${percent(CLAIMED_SHARE)} or more, so that the share let through is not judged`;

interface Saturated {
  readonly group: 'redis' | 'leased';
  readonly replica: AttackedOptions['replica'];
  readonly forMs: number;
}

/** The machine has no time, for Redis as little as for the instances. */
export const saturationFaults: readonly Fault[] = [
  saturated({ group: 'redis', replica: 'verified', forMs: 20_000 }),
  saturated({ group: 'leased', replica: 'leased', forMs: 60_000 }),
];

/**
 * An attack, and adds besides. With leased copies the share of absent ids that are let through is judged;
 * without them each needs a reply in time, and the share is only shown.
 */
function saturated(given: Saturated): Fault {
  return {
    name: NAME,
    group: given.group,
    quick: false,
    alone: true,
    isBeyond: false,
    run: ({ without }) => judge(given, without),
  };
}

async function judge({ replica, forMs }: Saturated, without: Safety | undefined): Promise<Judgement> {
  const site = await ServerSite.start();
  const attack = await Attack.start({ redisUrl: site.server.url, replica, without });
  let busy: BusyProcesses | undefined;
  try {
    await attack.begin();
    const calm = await attack.seenWhile(() => delay(CALM_MS));

    busy = await BusyProcesses.start();
    await delay(SETTLING_MS);
    let share = 0;
    const attacked = await attack.seenWhile(async () => {
      share = await busy!.shareWhile(() => delay(forMs));
    });
    let outcome = '';
    const rebuilt = await attack.seenWhile(async () => (outcome = await attack.rebuild()));
    await busy.stop();
    const protectedAgainMs = await attack.protectedAfter();

    const isClaimed = replica === 'leased' && !without;
    const isBusier = isClaimed && share < CLAIMED_SHARE;
    const most = mostLetThrough(attacked.asked);
    const failure =
      isClaimed && !isBusier && attacked.letThrough > most
        ? `More than ${most.toFixed(0)} of ${attacked.asked} absent ids were let through.`
        : protectedAgainMs === null && 'Protection did not come back.';
    const { remarks, lastEvents, ...judged } = await attack.judge();
    const { wrongAbsent, callerErrors } = judged;
    return {
      fault: NAME,
      ...judged,
      protectedAgainMs,
      isForGood: false,
      remarks: [
        `before: ${described(calm)}`,
        `for ${Math.round(forMs / 1000)} s: ${described(attacked)}`,
        `during a rebuild that ended with '${outcome}': ${described(rebuilt)}`,
        `the busy processes had ${percent(share)} of a core each${isBusier ? BUSIER : ''}`,
        ...remarks,
        ...(failure || wrongAbsent + callerErrors > 0 ? lastEvents : []),
      ],
      ...(failure && { failure }),
    };
  } finally {
    await busy?.stop();
    await attack.stop();
    await site.stop();
  }
}

function described({ asked, letThrough, unknown, leasesLost }: AttackSeen): string {
  const share = letThrough / Math.max(1, asked);
  const lost = leasesLost > 0 ? `, ${leasesLost} leases lost` : '';
  return (
    `${letThrough} of ${asked} lookups of absent ids were let through: ${(100 * share).toFixed(3)} %, ` +
    `${(share / ERROR_RATE).toFixed(2)} × the error rate (${unknown} lookups of any id were unknown${lost})`
  );
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}
