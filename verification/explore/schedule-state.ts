import { Random } from '../../test/support/random.js';
import type { Chooser, Step } from './action.js';
import type { Actor } from './actor.js';
import type { Ambient, VirtualInterval, VirtualTimeout } from './ambient.js';
import type { Breakage } from './broken-store.js';
import { Fairness } from './fairness.js';
import { Gate } from './gate.js';
import type { GatedInstance } from './gated-instance.js';
import type { Ground } from './ground.js';
import { LeasedTime } from './leased/leased-time.js';
import { OlderCopy } from './older-copy.js';
import { Oracle } from './oracle.js';
import type { Scenario } from './scenario.js';
import { runId, type SimulatedServer } from './simulated-server.js';

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

/** So many steps of others the slowest takes where leases end meanwhile. */
const LEASED_PATIENCE = 60;

/**
 * What one run of a scenario has: its processes and clocks, what they wait for, and what is known of them.
 */
export class ScheduleState implements Ambient {
  private virtualNow = 0;
  readonly random: Random;
  /** Undefined where nobody answers "absent" from a copy. */
  readonly time: LeasedTime | undefined;
  readonly oracle = new Oracle();
  readonly olderCopy = new OlderCopy();
  readonly taken: string[] = [];
  readonly trace: string[] = [];
  readonly keys = new Set<string>();
  readonly ground: Ground;
  readonly instances: GatedInstance[] = [];
  /** Keys that the last snapshot of the server holds. */
  snapshot: readonly string[] = [];
  /** What had been written by then. */
  writtenAtSnapshot = 0;
  readonly gate: Gate;
  restarts = 0;
  /** What an actor waits for that nothing will ever bring. */
  readonly stuck: string[] = [];
  readonly fairness: Fairness;
  actors: readonly Actor[] = [];
  protected phase: 'beginning' | 'running' | 'checking' | 'cleaning' | 'done' = 'beginning';

  constructor(readonly options: ScheduleOptions) {
    this.ground = options.scenario.ground(options.filterName);
    this.random = new Random(options.scenario.seed ^ 0x5bd1e995);
    const note = (text: string) => this.note(text);
    const { leased, seed, instances } = options.scenario;
    this.fairness = new Fairness(leased && LEASED_PATIENCE);
    if (leased) this.time = new LeasedTime(leased, seed, this.instances, instances.length);
    this.gate = new Gate({
      ...options,
      base: this.base,
      time: this.time,
      oracle: this.oracle,
      olderCopy: this.olderCopy,
      keys: this.keys,
      random: this.random,
      instances: this.instances,
      note,
    });
  }

  get now(): number {
    return this.virtualNow;
  }

  set now(now: number) {
    this.virtualNow = now;
    if (this.time) this.time.now = now;
  }

  get processNow(): number {
    return this.time ? this.time.nowOf(this.gate.working) : this.now;
  }

  get wallNow(): number | undefined {
    return this.time?.wallOf(this.gate.working);
  }

  get chance(): Random | undefined {
    return this.time?.chance;
  }

  get base(): string {
    return this.ground.base;
  }

  get failed(): boolean {
    return this.oracle.violations.length > 0;
  }

  note(text: string): void {
    if (this.options.isTraced && this.phase === 'running') this.trace.push(text);
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

  onTimeout(callback: () => void, ms: number): VirtualTimeout {
    return this.gate.onTimeout(callback, ms);
  }

  beginActor(actor: Actor): Step {
    this.fairness.taken(actor);
    return local(() => {
      this.gate.working = actor.instance;
      actor.start();
    });
  }
}

/** A step that sends nothing. */
export function local(deliver: () => void): Step {
  return { send: [], deliver };
}
