import type { Action, Choices, Step } from './action.js';
import { Actor } from './actor.js';
import { within } from './ambient.js';
import { faultActions } from './faults.js';
import type { Ground } from './ground.js';
import { CLOCK_LEAP_MS, DRAIN_MS, GatedInstance } from './gated-instance.js';
import { LastChecks } from './last-checks.js';
import { leasedActions } from './leased/leased-actions.js';
import { LeasedWatch } from './leased/leased-watch.js';
import { type Fault, OLD_ROWS } from './scenario.js';
import { local, type ScheduleOptions, ScheduleState } from './schedule-state.js';
import { PagedSource, SimulatedTable } from './simulated-table.js';

/** Virtual milliseconds that pass with an action; a filter that is not ready is looked at again after 250. */
const STEP_MS = 1;
const LEAP_MS = 300;
/** What one process puts at the gate in one schedule, far beyond what any needs. */
const MAX_ACTIONS = 1_500;

/** One run of a scenario: holds everything its processes wait for and lets one thing through at a time. */
export class Schedule extends ScheduleState implements Choices {
  private readonly watch: LeasedWatch | undefined;
  private readonly table = new SimulatedTable();
  private lastChecks: LastChecks | undefined;
  private beginning: ReturnType<Ground['begin']> = { send: [], keys: [] };

  constructor(options: ScheduleOptions) {
    super(options);
    this.watch = this.time && new LeasedWatch(this, this.time);
  }

  async open(): Promise<void> {
    const { scenario } = this.options;
    let starting: Promise<unknown> = Promise.resolve();
    await within(this, () => {
      this.beginning = this.ground.begin();
      starting = Promise.all(scenario.instances.map((_, index) => this.startInstance(index)));
    });
    await starting;
    const note = (text: string) => this.note(text);
    const actors = () => this.actors;
    const around = { table: this.table, oracle: this.oracle, note, actors, now: () => this.now };
    this.actors = scenario.actors.map(
      (plan, index) => new Actor(index, this.instances[plan.instance]!, plan, around),
    );
    if (scenario.hasSource) {
      this.table.commit(OLD_ROWS);
      this.oracle.commit(OLD_ROWS);
    }
    this.oracle.built(this.ground.holds);
  }

  next(): Step | undefined {
    switch (this.phase) {
      case 'beginning':
        this.phase = 'running';
        return this.begin();
      case 'running': {
        this.watch?.look();
        const action = this.taken.length < MAX_ACTIONS ? this.options.chooser(this) : undefined;
        if (action && !this.failed) {
          this.now += STEP_MS;
          this.taken.push(action.label);
          return this.timed(action.step());
        }
        this.stuck.push(...this.actors.filter((actor) => actor.isStuck).map(({ index }) => `A${index}`));
        this.note('then every process asks for every id, in bulk and one by one');
        this.phase = 'checking';
        this.lastChecks = new LastChecks(this);
        return this.next();
      }
      case 'checking': {
        const step = this.lastChecks?.next();
        if (step) return this.timed(step);
        if (this.lastChecks?.areStuck) this.stuck.push('the last checks');
        this.phase = 'cleaning';
        if (this.options.keepsKeys) return undefined;
        return { send: [{ name: 'unlink', args: [...this.keys, ...this.ofServer] }], deliver() {} };
      }
      case 'cleaning':
        this.phase = 'done';
        return undefined;
      case 'done':
        return undefined;
    }
  }

  /** The server is told the time before it gets anything. */
  private timed(step: Step): Step {
    if (!this.time || step.send.length === 0) return step;
    const send = [this.time.tellServer(this.base), ...step.send];
    return { send, deliver: (replies) => step.deliver(replies.slice(1)) };
  }

  ordinaryActions(): Action[] {
    if (this.time) return leasedActions(this, this.time);
    const actions: Action[] = [];
    const step = this.taken.length;
    for (const instance of this.instances) {
      if (!instance.isAlive) continue;
      instance.held.forEach((held, place) => {
        if (!held.isDue()) return;
        const weight = this.fairness.weigh(held, { instance, weight: held.weight, step });
        const label = `${instance.name}#${place}`;
        actions.push({ label, weight, isWork: true, step: () => this.gate.letThrough(instance, held) });
      });
      instance.intervals.forEach((interval, place) => {
        if (interval.cleared) return;
        const fire = () => local(() => interval.callback());
        actions.push({ label: `${instance.name} timer ${place}`, weight: 0.02, isWork: false, step: fire });
      });
    }
    for (const actor of this.actors) {
      if (!actor.canStart) continue;
      const weight = this.fairness.weigh(actor, { instance: actor.instance, weight: 0.3, step });
      actions.push({ label: `A${actor.index}`, weight, isWork: true, step: () => this.beginActor(actor) });
    }
    const leap = () => local(() => void (this.now += LEAP_MS));
    actions.push({ label: 'time', weight: 0.05, isWork: false, step: leap });
    if (this.canLeap())
      actions.push({
        label: 'clock',
        weight: this.options.scenario.leapWeight,
        isWork: false,
        step: () => this.leapOfClock(),
      });
    return actions;
  }

  faultActions(fault: Fault): Action[] {
    return faultActions(this, fault);
  }

  private get ofServer(): string[] {
    return [`${this.base}:server`, `${this.base}:clock`, `${this.base}:published`];
  }

  /** Whether no row is on its way: none takes longer than the drain. */
  private canLeap(): boolean {
    const isAdding = this.instances.some(({ isAlive, adding }) => isAlive && adding.size > 0);
    return !isAdding && !this.oracle.awaitsRows;
  }

  /** For all clocks, that of the server included. */
  private leapOfClock(): Step {
    this.note('the longest drain passes');
    return {
      send: [{ name: 'incrby', args: [`${this.base}:clock`, CLOCK_LEAP_MS] }],
      deliver: () => void (this.now += CLOCK_LEAP_MS),
    };
  }

  private async startInstance(index: number): Promise<void> {
    const { scenario, filterName, server, breakage } = this.options;
    const { pageSize, single, counts, isOrdered, ...plan } = scenario.instances[index]!;
    const { table, time } = this;
    const turn = (what: string) => this.gate.turn(this.instances[index]!, what);
    this.instances[index] = await GatedInstance.start({
      index,
      filterName,
      ...plan,
      ground: this.ground,
      server,
      breakage,
      source: scenario.hasSource
        ? new PagedSource({ table, pageSize, single, counts, isOrdered, turn })
        : undefined,
      leased: scenario.leased,
      now: () => (time ? time.nowOf(this.instances[index]) : this.now),
      wall: () => time?.wallOf(this.instances[index]) ?? this.now,
      hold: (instance, held) => this.gate.hold(instance, held),
      hasRow: async (instance, id) => {
        await this.gate.turn(instance, `reads the row of ${id}`);
        return table.has(id);
      },
      rest: (instance, ...given) => this.gate.turn(instance, 'has rested', time?.pause(instance, ...given)),
      sleep: (instance, ms, signal) => {
        if (ms !== DRAIN_MS) return this.gate.turn(instance, 'pauses', time?.pause(instance, ms), signal);
        const isDrained = () => breakage.drainsNot === true || !this.oracle.isAwaited(instance.drain);
        return this.gate.turn(instance, 'has drained', isDrained, signal);
      },
    });
    this.instances[index].weight = [1, 1, 0.3, 0.1][this.random.below(4)]!;
  }

  private begin(): Step {
    const clock = this.time?.clocks.server(0) ?? (this.options.scenario.isSettled ? CLOCK_LEAP_MS : 0);
    const { send, keys } = this.beginning;
    for (const key of keys) this.keys.add(key);
    return { send: [{ name: 'set', args: [`${this.base}:clock`, clock] }, ...send], deliver() {} };
  }
}
