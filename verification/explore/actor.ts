import type { GatedInstance } from './gated-instance.js';
import type { Oracle } from './oracle.js';
import type { ActorPlan, Operation } from './scenario.js';
import type { SimulatedTable } from './simulated-table.js';

/** An operation that failed is begun again, as a caller would, but not for ever. */
const MAX_ATTEMPTS = 3;
/** A rebuild that was skipped is tried again after these virtual milliseconds. */
const SKIPPED_PAUSE_MS = 25;
const MAX_SKIPS = 6;

export interface AdviceContext {
  readonly table: SimulatedTable;
  readonly oracle: Oracle;
  readonly now: () => number;
  readonly note: (text: string) => void;
  /** Everybody who does something, this one included. */
  readonly actors: () => readonly Actor[];
}

/** Does one thing after the other on one instance: a request handler, a worker, a person. */
export class Actor {
  private next = 0;
  private attempts = 0;
  private skips = 0;
  private isBusy = false;
  private restsUntil = 0;

  constructor(
    readonly index: number,
    readonly instance: GatedInstance,
    private readonly plan: ActorPlan,
    private readonly around: AdviceContext,
  ) {}

  get canStart(): boolean {
    return (
      this.instance.isAlive &&
      !this.isBusy &&
      this.around.now() >= this.restsUntil &&
      this.next < this.plan.operations.length
    );
  }

  /** Whether it does something, or will. */
  get isWorking(): boolean {
    return this.instance.isAlive && (this.isBusy || this.next < this.plan.operations.length);
  }

  get isStuck(): boolean {
    return this.instance.isAlive && this.isBusy;
  }

  /** Whether an add of a peer is under way, or still to come. */
  get hasPeerAddsLeft(): boolean {
    return (
      this.instance.isAlive && this.plan.operations.slice(this.next).some(({ type }) => type === 'peer add')
    );
  }

  start(): void {
    const operation = this.plan.operations[this.next]!;
    this.isBusy = true;
    this.attempts++;
    const { name } = this.instance;
    this.around.note(`${name} begins: ${describe(operation)}`);
    this.perform(operation).then(
      (result) => {
        this.around.note(
          `${name} ended: ${describe(operation)}${result === undefined ? '' : ` → ${result}`}`,
        );
        this.proceed();
      },
      (error: unknown) => {
        this.around.note(`${name} failed: ${describe(operation)}: ${(error as Error).message}`);
        if (this.attempts < MAX_ATTEMPTS) this.isBusy = false;
        else if (operation.type === 'add' || operation.type === 'peer add') this.giveUp();
        else this.proceed();
      },
    );
  }

  /** The process is gone: what it has not committed never will be. */
  die(): void {
    for (const operation of this.plan.operations.slice(this.next)) {
      if ('ids' in operation && operation.type !== 'check') this.rollBack(operation.ids);
    }
  }

  /** Whether it has begun to add the id, and neither committed its row nor rolled it back. */
  private isAdding(id: string): boolean {
    if (!this.instance.isAlive) return false;
    const { operations } = this.plan;
    const begun = this.isBusy ? this.next + 1 : this.next;
    const hasIn = (from: number, to: number, ...types: readonly string[]) =>
      operations
        .slice(from, to)
        .some(
          (operation) => types.includes(operation.type) && 'ids' in operation && operation.ids.includes(id),
        );
    return hasIn(0, begun, 'add', 'peer add') && hasIn(this.next, Infinity, 'commit', 'roll back');
  }

  /** The row of an id that somebody else adds too is still to come. */
  private rollBack(ids: readonly string[]): void {
    const { actors, oracle } = this.around;
    const others = actors().filter((actor) => actor !== this);
    oracle.rollBack(ids.filter((id) => !others.some((actor) => actor.isAdding(id))));
  }

  private proceed(): void {
    this.next++;
    this.attempts = 0;
    this.isBusy = false;
  }

  /** The create failed: its transaction is rolled back. */
  private giveUp(): void {
    this.die();
    this.next = this.plan.operations.length;
    this.isBusy = false;
  }

  private async perform(operation: Operation): Promise<string | undefined> {
    const { instance, around } = this;
    const { oracle, table } = around;
    const { emptyings } = oracle;
    const { filter } = instance;
    switch (operation.type) {
      case 'add':
        for (const id of operation.ids) instance.adding.add(id);
        instance.unrecorded.add(operation.ids);
        try {
          await instance.register(operation.ids);
        } finally {
          for (const id of operation.ids) instance.adding.delete(id);
          instance.unrecorded.delete(operation.ids);
        }
        oracle.acknowledged(operation.ids, emptyings);
        return undefined;
      case 'peer add':
        await this.addAsPeer(operation.ids);
        oracle.acknowledged(operation.ids, emptyings);
        return undefined;
      case 'rest':
        await instance.options.rest(instance, operation.ms, operation.untilAnnounced);
        return undefined;
      case 'commit':
        table.commit(operation.ids);
        oracle.commit(operation.ids);
        return undefined;
      case 'roll back':
        this.rollBack(operation.ids);
        return undefined;
      case 'check':
        return this.check(operation);
      case 'rebuild': {
        const { source } = instance.options;
        if (!source) {
          await filter.create();
          return undefined;
        }
        const report = await filter.rebuild();
        if (report.outcome === 'skipped') {
          if (this.skips++ < MAX_SKIPS) this.attempts = 0;
          this.restsUntil = around.now() + SKIPPED_PAUSE_MS;
          throw new Error(report.reason);
        }
        oracle.built(source.read);
        return `${report.ids} ids`;
      }
      case 'reset':
        instance.resetting++;
        try {
          await filter.reset();
        } finally {
          instance.resetting--;
        }
        return undefined;
    }
  }

  private async addAsPeer(ids: readonly string[]): Promise<void> {
    const { peerClient, peerAdding, options } = this.instance;
    for (const id of ids) peerAdding.add(id);
    try {
      for (const id of ids) await options.ground.peer!.add(peerClient, id);
    } finally {
      for (const id of ids) peerAdding.delete(id);
    }
  }

  private async check({ ids, how }: Operation & { type: 'check' }): Promise<string> {
    const { filter, name } = this.instance;
    const judge = this.around.oracle.expect(ids, name);
    const verdicts =
      how === 'bulk'
        ? await filter.checkMany(ids)
        : await Promise.all(
            ids.map((id) => (how === 'guard' ? this.instance.guarded(id) : filter.check(id))),
          );
    judge(verdicts);
    return verdicts.join(', ');
  }
}

function describe(operation: Operation): string {
  if (!('ids' in operation)) return operation.type;
  const how = operation.type === 'check' ? ` (${operation.how})` : '';
  return `${operation.type} ${operation.ids.join(', ')}${how}`;
}
