import type { GatedInstance } from './gated-instance.js';

/**
 * So many steps of others the slowest command, and the longest pause of a process, take. Without a bound
 * those who look again and again whether somebody else is done would keep that one from it for the rest of
 * the schedule.
 */
const PATIENCE = 200;

/** How readily a schedule takes what waits: as the scenario says, but nothing waits for ever. */
export class Fairness {
  private readonly since = new WeakMap<object, number>();

  constructor(private readonly patience = PATIENCE) {}

  /**
   * Weight of what can be taken now, at the step of this number; a process that has stood still for long
   * wakes.
   */
  weigh(
    waiting: object,
    { instance, weight, step }: { instance: GatedInstance; weight: number; step: number },
  ): number {
    const since = this.since.get(waiting);
    if (since === undefined) this.since.set(waiting, step);
    else if (step - since > this.patience) {
      instance.weight = 1;
      return 1;
    }
    return weight * instance.weight;
  }

  /** What was taken may wait again. */
  taken(waiting: object): void {
    this.since.delete(waiting);
  }
}
