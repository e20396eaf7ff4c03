import { setTimeout as delay } from 'node:timers/promises';
import { BloomError, BloomOverloadError } from 'nestjs-bloom';
import type { ShopInstance } from './shop-instance.js';
import type { Ledger } from './ledger.js';
import type { Protection } from './protection.js';
import { DatabaseDownError } from './shop-database.js';

const TICK_MS = 5;
const LOOK_UPS_PER_TICK = 4;
const TICKS_PER_ADD = 2;
/** Calls of one instance that wait for an answer: callers are not without number. */
const MAX_LOOK_UPS_WAITING = 400;
const MAX_ADDS_WAITING = 30;
const IDS_PER_SWEEP = 250;

/** Lookups and adds on every instance, all the time, judged by the ledger. */
export class Traffic {
  /** When set, the time that each lookup of an instance took is noted here. */
  durations: Map<ShopInstance, number[]> | undefined;
  /** Lookups of ids that do not exist, and how many of them reached the table. */
  readonly probes = { asked: 0, letThrough: 0 };
  /** The instances that add. */
  adders: ReadonlySet<ShopInstance>;

  private readonly loops: Promise<void>[] = [];
  private readonly waiting = new Set<Promise<void>>();
  private isStopped = false;
  private named = 0;

  constructor(
    private readonly instances: readonly ShopInstance[],
    private readonly ledger: Ledger,
    private readonly protection: Protection,
  ) {
    this.adders = new Set(instances);
  }

  start(): void {
    this.loops.push(...this.instances.map((instance) => this.run(instance)));
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    await Promise.all(this.loops);
    await Promise.all(this.waiting);
  }

  /** Asks every instance for every id that it owes. */
  async sweep(): Promise<void> {
    const { ids } = this.ledger;
    for (const instance of this.instances) {
      for (let at = 0; at < ids.length; at += IDS_PER_SWEEP) {
        await Promise.all(ids.slice(at, at + IDS_PER_SWEEP).map((id) => this.lookUp(instance, id)));
      }
    }
  }

  /** An add was acknowledged: every instance is asked at once, before the row is visible. */
  acknowledged(id: string): void {
    this.ledger.acknowledged(id);
    for (const instance of this.instances) void this.lookUp(instance, id);
  }

  private async run(instance: ShopInstance): Promise<void> {
    const load = { lookups: 0, adds: 0 };
    const count = (kind: keyof typeof load, call: Promise<void>) => {
      load[kind]++;
      const waiting: Promise<void> = call.finally(() => {
        load[kind]--;
        this.waiting.delete(waiting);
      });
      this.waiting.add(waiting);
    };
    for (let tick = 0; !this.isStopped; tick++) {
      if (load.lookups < MAX_LOOK_UPS_WAITING) {
        for (let i = 0; i < LOOK_UPS_PER_TICK; i++)
          count('lookups', this.lookUp(instance, this.ledger.pick()));
        count('lookups', this.probe(instance));
      }
      if (tick % TICKS_PER_ADD === 0 && load.adds < MAX_ADDS_WAITING && this.adders.has(instance))
        count('adds', this.add(instance));
      await delay(TICK_MS);
    }
  }

  private async lookUp(instance: ShopInstance, id: string): Promise<void> {
    if ((await this.find(instance, id)) === null) this.ledger.wasAbsent(id);
  }

  private async probe(instance: ShopInstance): Promise<void> {
    const at = performance.now();
    const answer = await this.find(instance, `nobody-${++this.named}`);
    this.probes.asked++;
    if (answer !== null) this.probes.letThrough++;
    this.protection.note(instance, at, answer === null);
  }

  /** Undefined for what no guard answered: the table did, it failed, or the call was refused. */
  private async find(instance: ShopInstance, id: string): Promise<null | undefined> {
    const startedAt = performance.now();
    this.ledger.lookups++;
    try {
      return (await instance.shop.find(id)) === 'absent' ? null : undefined;
    } catch (error) {
      if (!(error instanceof DatabaseDownError || error instanceof BloomOverloadError))
        this.ledger.callerErrors.push(error);
      return undefined;
    } finally {
      this.durations?.get(instance)?.push(performance.now() - startedAt);
    }
  }

  private async add(instance: ShopInstance): Promise<void> {
    const id = `added-${++this.named}`;
    const { ledger } = this;
    const pausedBeforeMs = ledger.pauses.totalMs;
    const calledAt = performance.now();
    let addedAt = calledAt;
    let pausedMs = 0;
    try {
      await instance.shop.create(id, () => {
        addedAt = performance.now();
        pausedMs = ledger.pauses.totalMs - pausedBeforeMs;
        this.acknowledged(id);
      });
      const visibleAt = performance.now();
      ledger.visible(id, { sinceCallMs: visibleAt - calledAt, sinceAddedMs: visibleAt - addedAt, pausedMs });
    } catch (error) {
      if (error instanceof BloomError) ledger.rejectedAdds++;
      else if (error instanceof DatabaseDownError) ledger.withdraw(id);
      else ledger.callerErrors.push(error);
    }
  }
}
