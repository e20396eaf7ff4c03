import { setTimeout as delay } from 'node:timers/promises';
import type { Safety } from '../../test/support/broken-lua.js';
import { Attack } from './attack.js';
import type { AttackSeen } from './attacked-protocol.js';
import type { Fault, Judgement } from './fault.js';
import { ServerSite } from './redis-site.js';

const BLIND_MS = 8000;

/** The filter cannot judge while absent ids are asked for all the time. */
export const overloadFaults: readonly Fault[] = [
  overloaded('attack while Redis is stopped (SIGSTOP)', async (site) => {
    await site.server.kill('SIGSTOP');
    return () => site.server.kill('SIGCONT');
  }),
  overloaded('attack while the filter is lost (FLUSHALL)', async (site) => {
    await site.admin.flushall();
    return async () => {};
  }),
];

type Strike = (site: ServerSite) => Promise<() => Promise<unknown>>;

function overloaded(name: string, strike: Strike): Fault {
  const run = ({ without }: { readonly without: Safety | undefined }) => judge(name, strike, without);
  return { name, group: 'redis', quick: false, alone: true, isBeyond: false, run };
}

async function judge(name: string, strike: Strike, without: Safety | undefined): Promise<Judgement> {
  const site = await ServerSite.start();
  const attack = await Attack.start({ redisUrl: site.server.url, replica: 'verified', without });
  try {
    await attack.begin();
    let end: () => Promise<unknown> = async () => {};
    const blind = await attack.seenWhile(async () => {
      end = await strike(site);
      await delay(BLIND_MS);
    });
    await end();
    const protectedAgainMs = await attack.protectedAfter();
    const { remarks, lastEvents, ...judged } = await attack.judge();
    const left = await attack.budgeted();
    const failure =
      (protectedAgainMs === null && 'Protection did not come back.') ||
      (left > 0 && `${left} calls still have a place in the budget, or wait for one.`);
    return {
      fault: name,
      ...judged,
      protectedAgainMs,
      isForGood: false,
      remarks: [described(blind), ...remarks, ...(failure || judged.wrongAbsent > 0 ? lastEvents : [])],
      ...(failure && { failure }),
    };
  } finally {
    await attack.stop();
    await site.stop();
  }
}

function described({ asked, letThrough, refused, unknown }: AttackSeen): string {
  return (
    `${letThrough} of ${asked} lookups of absent ids ran within the budget, and ${refused} of any id were refused ` +
    `(${unknown} were unknown)`
  );
}
