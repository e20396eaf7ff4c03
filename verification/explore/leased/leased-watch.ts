import { during } from '../ambient.js';
import type { GatedInstance } from '../gated-instance.js';
import type { ScheduleState } from '../schedule-state.js';
import type { LeasedTime } from './leased-time.js';

/** A timer counts whole milliseconds, and may be early by one. */
const LATEST_MS = 2;

/** Looks after every step at what processes would answer on their own now, and at adds that wait. */
export class LeasedWatch {
  constructor(
    private readonly schedule: ScheduleState,
    private readonly time: LeasedTime,
  ) {}

  look(): void {
    const { schedule, time } = this;
    time.sightings.look(schedule.instances);
    for (const instance of schedule.instances) {
      if (!instance.isAlive) continue;
      schedule.gate.working = instance;
      during(schedule, () => this.lookAt(instance));
    }
  }

  private lookAt(instance: GatedInstance): void {
    const { oracle } = this.schedule;
    for (const id of oracle.requiredIds()) {
      if (instance.denies(id))
        oracle.violations.push(`${instance.name} answers from its copy that ${id} is absent`);
    }
    if (this.waitsTooLong(instance)) {
      oracle.violations.push(`an add on ${instance.name} waits for longer than a lease`);
    }
  }

  /**
   * Whether an add goes on waiting although a whole lease has passed since its reply came, and nothing is
   * left to do in its process.
   */
  private waitsTooLong(instance: GatedInstance): boolean {
    const { addedAt, adding, held } = instance;
    if (adding.size === 0 || addedAt === undefined) return false;
    if (this.time.nowOf(instance) < addedAt + this.time.plan.leaseMs + LATEST_MS) return false;
    return !held.some((one) => one.isOfFeed !== true && (one.command !== undefined || one.isDue()));
  }
}
