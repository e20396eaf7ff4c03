import { setTimeout as delay } from 'node:timers/promises';
import { eventually } from '../../test/support/eventually.js';
import type { Fault } from './fault.js';
import { judge } from './outside-faults.js';
import { OwnMarksSite } from './own-marks-site.js';

const OUTAGE_MS = 2000;
/** Less than the overlap of the instances. */
const LAG_MS = 250;
/** An id is old when a hundred rows come after it, and those of half of the overlap. */
const OTHERS = 250;
const HOUR_MS = 3_600_000;

interface OwnMarksFault {
  readonly name: string;
  readonly quick?: boolean;
  readonly hasStandby?: boolean;
  readonly strike: (site: OwnMarksSite) => Promise<void>;
}

/** Three processes without Redis: none of them ever answers "absent" for a row that is visible. */
function ownMarks({ name: what, quick = false, hasStandby, strike }: OwnMarksFault): Fault {
  const name = `without Redis: ${what}`;
  const run = () => judge(name, () => OwnMarksSite.start({ hasStandby }), strike);
  return { name, group: 'outside', quick, alone: false, isBeyond: false, run };
}

export const ownMarksFaults: readonly Fault[] = [
  ownMarks({
    name: 'a process stopped (SIGSTOP) again and again',
    quick: true,
    strike: async ({ instances }) => {
      for (let i = 0; i < 6; i++) {
        instances[i % 3]!.signal('SIGSTOP');
        await delay(OUTAGE_MS * Math.random());
        instances[i % 3]!.signal('SIGCONT');
        await delay(OUTAGE_MS * Math.random());
      }
    },
  }),
  ownMarks({
    name: 'Postgres crashed, and back',
    strike: async ({ primary }) => {
      await primary.crash();
      await delay(OUTAGE_MS);
    },
  }),
  ownMarks({
    name: 'Postgres into a black hole, and back',
    strike: async ({ proxy }) => {
      proxy.hold();
      await delay(OUTAGE_MS);
      proxy.disconnect();
      proxy.release();
    },
  }),
  ownMarks({
    name: 'failover of Postgres to a standby that lags',
    quick: true,
    hasStandby: true,
    strike: (site) => site.failOver(LAG_MS),
  }),
  ownMarks({
    name: 'clock of a process set back, and that of another one forward',
    strike: async ({ instances }) => {
      await instances[0]!.send({ type: 'clock', byMs: -HOUR_MS });
      await instances[1]!.send({ type: 'clock', byMs: 24 * HOUR_MS });
      await delay(OUTAGE_MS);
    },
  }),
  ownMarks({
    name: 'ids that were taken long ago are added',
    quick: true,
    strike: async (site) => {
      const old = site.none.slice(0, 5);
      await eventually('they are long ago', () => site.rows.filter((id) => id > old.at(-1)!).length > OTHERS);
      let refused = 0;
      for (const id of old) refused += (await site.instances[0]!.send({ type: 'add', id })).refused ?? 0;
      if (refused !== old.length)
        throw new Error(`Expected ${old.length} old ids to be refused, got ${refused}.`);
    },
  }),
];
