import type { Breakage } from './broken-store.js';
import { Random } from '../../test/support/random.js';
import type { Action, Choices, Chooser, Step } from './action.js';
import { Actor } from './actor.js';
import { type Ambient, type VirtualInterval, within } from './ambient.js';
import { rawCommand } from './commands.js';
import { Fairness } from './fairness.js';
import { faultActions } from './faults.js';
import { Gate, remove } from './gate.js';
import type { Ground } from './ground.js';
import { CLOCK_LEAP_MS, DRAIN_MS, GatedInstance } from './gated-instance.js';
import { OlderCopy } from './older-copy.js';
import { Oracle } from './oracle.js';
import { type Fault, OLD_ROWS, type Scenario } from './scenario.js';
import { runId, type SimulatedServer } from './simulated-server.js';
import { PagedSource, SimulatedTable } from './simulated-table.js';

export interface ScheduleOptions {
  readonly scenario: Scenario;
  readonly filterName: string;
  readonly server: SimulatedServer;
  readonly breakage: Breakage;
  readonly chooser: Chooser;
  readonly isTraced?: boolean;
  /** Leaves what it has made in the server. */
  readonly keepsKeys?: boolean;
}

/** Virtual milliseconds that pass with an action; a filter that is not ready is looked at again after 250. */
const STEP_MS = 1;
const LEAP_MS = 300;
/** What one process puts at the gate in one schedule, far beyond what any needs. */
const MAX_ACTIONS = 1_500;

/** One run of a scenario: holds everything its processes wait for and lets one thing through at a time. */
export class Schedule implements Ambient, Choices {
  now = 0;
  readonly random: Random;
  readonly oracle = new Oracle();
  readonly olderCopy = new OlderCopy();
  readonly taken: string[] = [];
  readonly trace: string[] = [];
  readonly keys = new Set<string>();
  readonly ground: Ground;
  readonly instances: GatedInstance[] = [];
  /** Keys that the last snapshot of the server holds. */
  snapshot: readonly string[] = [];
  readonly gate: Gate;
  restarts = 0;
  /** What an actor waits for that nothing will ever bring. */
  readonly stuck: string[] = [];

  private readonly table = new SimulatedTable();
  private readonly fairness = new Fairness();
  private actors: Actor[] = [];
  /** Last checks that are under way. */
  private unanswered = 0;
  private beginning: ReturnType<Ground['begin']> = { send: [], keys: [] };
  private phase: 'beginning' | 'running' | 'checking' | 'cleaning' | 'done' = 'beginning';

  constructor(readonly options: ScheduleOptions) {
    this.ground = options.scenario.ground(options.filterName);
    this.random = new Random(options.scenario.seed ^ 0x5bd1e995);
    const note = (text: string) => this.note(text);
    this.gate = new Gate({
      ...options,
      oracle: this.oracle,
      olderCopy: this.olderCopy,
      keys: this.keys,
      random: this.random,
      note,
    });
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
    const around = { table: this.table, oracle: this.oracle, note, now: () => this.now };
    this.actors = scenario.actors.map(
      (plan, index) => new Actor(index, this.instances[plan.instance]!, plan, around),
    );
    if (scenario.hasSource) {
      this.table.commit(OLD_ROWS);
      this.oracle.commit(OLD_ROWS);
    }
    this.oracle.built(this.ground.holds);
  }

  get base(): string {
    return this.ground.base;
  }

  get failed(): boolean {
    return this.oracle.violations.length > 0;
  }

  next(): Step | undefined {
    switch (this.phase) {
      case 'beginning':
        this.phase = 'running';
        return this.begin();
      case 'running': {
        const action = this.taken.length < MAX_ACTIONS ? this.options.chooser(this) : undefined;
        if (action && !this.failed) {
          this.now += STEP_MS;
          this.taken.push(action.label);
          return action.step();
        }
        this.stuck.push(...this.actors.filter((actor) => actor.isStuck).map(({ index }) => `A${index}`));
        this.note('then every process asks for every id, in bulk and one by one');
        this.phase = 'checking';
        return { send: [], deliver: () => this.startLastChecks() };
      }
      case 'checking': {
        const step = this.letAllThrough();
        if (step) return step;
        if (this.unanswered > 0) this.stuck.push('the last checks');
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

  note(text: string): void {
    if (this.options.isTraced && this.phase === 'running') this.trace.push(text);
  }

  ordinaryActions(): Action[] {
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

  get hasPeerAddsLeft(): boolean {
    return this.actors.some((actor) => actor.hasPeerAddsLeft);
  }

  actorsOf(instance: GatedInstance): Actor[] {
    return this.actors.filter((actor) => actor.instance === instance);
  }

  nextRunId(): string {
    return runId(++this.restarts);
  }

  onInterval(callback: () => void, ms: number): VirtualInterval {
    return this.gate.onInterval(callback, ms);
  }

  onTimeout(callback: () => void, ms: number): void {
    this.gate.onTimeout(callback, ms);
  }

  private get ofServer(): string[] {
    return [`${this.base}:server`, `${this.base}:clock`];
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

  private beginActor(actor: Actor): Step {
    this.fairness.taken(actor);
    return local(() => {
      this.gate.working = actor.instance;
      actor.start();
    });
  }

  private async startInstance(index: number): Promise<void> {
    const { scenario, filterName, server, breakage } = this.options;
    const { pageSize, single, counts, ...plan } = scenario.instances[index]!;
    const { table } = this;
    const turn = (what: string) => this.gate.turn(this.instances[index]!, what);
    this.instances[index] = await GatedInstance.start({
      index,
      filterName,
      ...plan,
      ground: this.ground,
      server,
      breakage,
      source: scenario.hasSource ? new PagedSource({ table, pageSize, single, counts, turn }) : undefined,
      now: () => this.now,
      hold: (instance, command, isOfPeer) => this.gate.hold(instance, command, isOfPeer),
      hasRow: async (instance, id) => {
        await this.gate.turn(instance, `reads the row of ${id}`);
        return table.has(id);
      },
      sleep: (instance, ms, signal) => {
        if (ms !== DRAIN_MS) return this.gate.turn(instance, 'pauses', undefined, signal);
        const isDrained = () => breakage.drainsNot === true || !this.oracle.isAwaited(instance.drain);
        return this.gate.turn(instance, 'has drained', isDrained, signal);
      },
    });
    this.instances[index].weight = [1, 1, 0.3, 0.1][this.random.below(4)]!;
  }

  private begin(): Step {
    const clock = this.options.scenario.isSettled ? CLOCK_LEAP_MS : 0;
    const { send, keys } = this.beginning;
    for (const key of keys) this.keys.add(key);
    return { send: [{ name: 'set', args: [`${this.base}:clock`, clock] }, ...send], deliver() {} };
  }

  /** Every process that lives asks for every id that must not be absent, in bulk and one by one. */
  private startLastChecks(): void {
    const ids = this.oracle.requiredIds();
    for (const instance of this.instances) {
      instance.held.length = 0;
      if (!instance.isAlive || this.failed) continue;
      this.gate.working = instance;
      const { filter, name } = instance;
      const judge = this.oracle.expect(ids, name);
      this.unanswered++;
      void filter
        .checkMany(ids)
        .then(judge)
        .then(async () => {
          for (const id of ids) this.oracle.expect([id], name)([await instance.guarded(id)]);
          this.unanswered--;
        });
    }
  }

  private letAllThrough(): Step | undefined {
    const waiting = this.instances.flatMap((instance) => instance.held.map((held) => ({ instance, held })));
    if (waiting.length === 0) return undefined;
    const commands = waiting.filter(({ held }) => held.command);
    return {
      send: commands.map(({ held }) => rawCommand(held.command!, held.what, this.options.breakage)),
      deliver: (replies) => {
        for (const { instance, held } of waiting) remove(instance.held, held);
        commands.forEach(({ instance, held }, i) => this.gate.answer(instance, held, replies[i]!));
        for (const { held } of waiting) if (!held.command) held.go();
      },
    };
  }
}

function local(deliver: () => void): Step {
  return { send: [], deliver };
}
