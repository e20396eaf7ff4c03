import { type Model, type Protocol, systemsOf } from './model.js';

const SAFETIES = {
  'later-counts': 'a process takes a record only if it is later than the one that it knows',
  'beats-while-set':
    'a process that knows a mode for all goes on reporting, and writes its record where the store has none or an older one',
  'corrects-older':
    'a process that finds an older record in the store than the one that it knows writes its own, also where that withdraws the mode',
} as const;

type Safety = keyof typeof SAFETIES;

/** The time of a record; 0: none. */
type Time = number;

interface State {
  readonly stored: Time;
  /** For each record, by its time: whether it sets a mode. The others withdraw it. */
  readonly sets: readonly boolean[];
  /** The record that each process knows. */
  readonly known: readonly Time[];
  /** Whether each process has found an older record than the one that it knows. */
  readonly behind: readonly boolean[];
  readonly losses: number;
  readonly restarts: number;
}

interface Size {
  readonly processes: number;
  readonly records: number;
  readonly losses: number;
  readonly restarts: number;
}

/** Turns of each process without a fault, after which all of them agree. */
const FAIR_TURNS = 4;

/**
 * The mode of all processes, where a process reports nothing of itself unless it has to, and looks at the
 * record with the metadata.
 */
function buildModel(size: Size, without: Safety | undefined): Model<State> {
  const has = (safety: Safety) => safety !== without;
  const isSet = ({ sets }: State, time: Time) => time > 0 && sets[time - 1]!;
  const latest = ({ stored, known }: State) => Math.max(stored, ...known);

  /** One tick of a process: it looks, or beats if it has to. */
  function turn(state: State, process: number): State {
    const { stored, known, behind } = state;
    const before = known[process]!;
    const beats = behind[process]! || (has('beats-while-set') && isSet(state, before));
    const found = beats ? Math.max(stored, before) : stored;
    const isHeard = found > 0 && (found > before || !has('later-counts'));
    const isBehind = has('corrects-older') && found > 0 && found < before;
    return {
      ...state,
      stored: found,
      known: known.with(process, isHeard ? found : before),
      behind: behind.with(process, isBehind),
    };
  }

  return {
    initial: {
      stored: 0,
      sets: [],
      known: Array<Time>(size.processes).fill(0),
      behind: Array<boolean>(size.processes).fill(false),
      losses: 0,
      restarts: 0,
    },

    steps(state, take) {
      const { sets, known, behind, losses, restarts, stored } = state;
      if (sets.length < size.records)
        for (const one of [true, false])
          // The reply to the process that writes it may be lost: it hears the record as the others do.
          take({ ...state, stored: sets.length + 1, sets: [...sets, one] }, one ? 'set' : 'withdrawn');
      for (const process of known.keys()) {
        take(turn(state, process), 'a process has its turn');
        if (restarts === size.restarts) continue;
        const [unknown, level] = [known.with(process, 0), behind.with(process, false)];
        take({ ...state, known: unknown, behind: level, restarts: restarts + 1 }, 'a process starts again');
      }
      if (losses === size.losses) return;
      for (let older = 0; older < stored; older++)
        take(
          { ...state, stored: older, losses: losses + 1 },
          older === 0 ? 'the record is lost' : 'an older record is restored',
        );
    },

    violation(state) {
      let settled = state;
      for (let i = 0; i < FAIR_TURNS; i++)
        for (const process of state.known.keys()) settled = turn(settled, process);
      const wanted = isSet(state, latest(state)) ? latest(state) : 0;
      const inUse = settled.known.map((time) => (isSet(state, time) ? time : 0));
      if (inUse.every((time) => time === wanted)) return undefined;
      return `The modes in use are those of ${inUse.join(', ')}, and the latest one that was known is that of ${wanted}.`;
    },

    key: ({ known, behind, ...state }) =>
      JSON.stringify([state, known.map((time, process) => [time, behind[process]].join()).toSorted()]),
  };
}

const system = systemsOf(buildModel);

export const sharedMode: Protocol<Safety> = {
  name: 'shared-mode',
  safeties: SAFETIES,
  systems: [
    system(
      'three processes, four records, two losses',
      { processes: 3, records: 4, losses: 2, restarts: 1 },
      { shows: ['later-counts', 'beats-while-set', 'corrects-older'] },
    ),
  ],
};
