import { luaSources } from '../../test/support/lua-sources.js';
import type { Breakage } from './broken-store.js';
import { Random } from '../../test/support/random.js';
import type { Chooser } from './action.js';
import { randomChooser, replayChooser } from './choosers.js';
import { runInLockstep } from './lockstep.js';
import type { Family } from './families/family.js';
import { addSights, noSights, type Sights } from './leased/sightings.js';
import type { Scenario } from './scenario.js';
import { Schedule } from './schedule.js';
import type { ServerLink } from './server-link.js';
import { SimulatedServer } from './simulated-server.js';

export interface Figures {
  schedules: number;
  steps: number;
  verdicts: Record<'absent' | 'maybe' | 'unknown', number>;
  /** Seeds of schedules that failed, lowest first. */
  failed: number[];
  /** Seeds of schedules in which somebody waits for what never comes. */
  stuck: number[];
  /** Announced stagings: how often there was one, and in how many schedules. */
  readonly sights: { readonly times: Sights; readonly schedules: Sights };
}

/** What came of a schedule that was run again. */
export interface Outcome {
  readonly violations: readonly string[];
  readonly labels: readonly string[];
  readonly trace: readonly string[];
}

/** Runs schedules on one server, with all safeties in or with one taken out. */
export class Explorer {
  private readonly server: SimulatedServer;
  private names = 0;

  private constructor(
    private readonly link: ServerLink,
    private readonly family: Family,
    private readonly breakage: Breakage,
  ) {
    this.server = new SimulatedServer(breakage.lua ?? luaSources);
  }

  static async open(link: ServerLink, family: Family, breakage: Breakage = {}): Promise<Explorer> {
    const explorer = new Explorer(link, family, breakage);
    for (const { source } of Object.values(explorer.server.sources)) await link.load(source);
    return explorer;
  }

  /** Makes the filters that schedules begin with; once for a server. */
  async makeTemplates(): Promise<void> {
    const schedules = this.family.templates.map(({ filterName, scenario }) =>
      this.schedule(scenario, {
        filterName,
        chooser: randomChooser(new Random(scenario.seed), []),
        keepsKeys: true,
      }),
    );
    await runInLockstep(
      this.link,
      () => schedules.pop(),
      ({ oracle }) => {
        if (oracle.requiredIds().length === 0) throw new Error('A template was not built.');
      },
    );
  }

  /** Runs the schedules of `count` seeds, or until one has failed if that is wanted. */
  async run(options: {
    firstSeed: number;
    count: number;
    stopsAtFailure?: boolean;
    onProgress?: (done: number) => void;
  }): Promise<Figures> {
    const { firstSeed, count, stopsAtFailure, onProgress } = options;
    const figures: Figures = {
      schedules: 0,
      steps: 0,
      verdicts: { absent: 0, maybe: 0, unknown: 0 },
      failed: [],
      stuck: [],
      sights: { times: noSights(), schedules: noSights() },
    };
    let seed = firstSeed;
    const next = () => {
      if (seed >= firstSeed + count || (stopsAtFailure && figures.failed.length > 0)) return undefined;
      const scenario = this.family.makeScenario(seed++);
      return this.schedule(scenario, {
        chooser: randomChooser(new Random(scenario.seed ^ 0x2545f491), scenario.faults),
      });
    };
    await runInLockstep(this.link, next, (schedule) => {
      figures.schedules++;
      figures.steps += schedule.taken.length;
      if (schedule.time) addSights(figures.sights, schedule.time.sightings.counts);
      for (const verdict of ['absent', 'maybe', 'unknown'] as const) {
        figures.verdicts[verdict] += schedule.oracle.verdicts[verdict];
      }
      if (schedule.failed) figures.failed.push(schedule.options.scenario.seed);
      else if (schedule.stuck.length > 0) figures.stuck.push(schedule.options.scenario.seed);
      onProgress?.(figures.schedules);
    });
    figures.failed.sort((a, b) => a - b);
    return figures;
  }

  /** The labels of all actions of one seed's schedule. */
  async labelsOf(seed: number): Promise<readonly string[]> {
    const scenario = this.family.makeScenario(seed);
    const chooser = randomChooser(new Random(scenario.seed ^ 0x2545f491), scenario.faults);
    const [outcome] = await this.runAll([this.schedule(scenario, { chooser })]);
    return outcome!.labels;
  }

  /** Runs the scenario of a seed once for each list of actions. */
  replay(seed: number, candidates: readonly (readonly string[])[], isTraced = false): Promise<Outcome[]> {
    const scenario = this.family.makeScenario(seed);
    return this.runAll(
      candidates.map((labels) => this.schedule(scenario, { chooser: replayChooser(labels), isTraced })),
    );
  }

  private async runAll(schedules: readonly Schedule[]): Promise<Outcome[]> {
    const waiting = [...schedules];
    await runInLockstep(
      this.link,
      () => waiting.shift(),
      () => {},
    );
    return schedules.map(({ oracle, taken, trace }) => ({
      violations: oracle.violations,
      labels: taken,
      trace,
    }));
  }

  private schedule(
    scenario: Scenario,
    options: { chooser: Chooser; filterName?: string; isTraced?: boolean; keepsKeys?: boolean },
  ): Schedule {
    const { server, breakage } = this;
    return new Schedule({
      scenario,
      server,
      breakage,
      filterName: `s${this.names++}`,
      ...options,
    });
  }
}
