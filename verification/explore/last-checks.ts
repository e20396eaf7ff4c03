import type { Step } from './action.js';
import { rawCommand } from './commands.js';
import type { GatedInstance } from './gated-instance.js';
import { remove } from './held.js';
import type { ScheduleState } from './schedule-state.js';

/**
 * At the end of a schedule every process that lives asks for every id that must not be absent, in bulk and
 * one by one.
 */
export class LastChecks {
  private unanswered = 0;
  /** Processes that ask together. Where clocks run apart, each asks alone. */
  private readonly groups: GatedInstance[][];
  private asking: GatedInstance[] = [];

  constructor(private readonly schedule: ScheduleState) {
    const { instances, time } = schedule;
    this.groups = time ? instances.map((instance) => [instance]) : [[...instances]];
  }

  get areStuck(): boolean {
    return this.unanswered > 0;
  }

  next(): Step | undefined {
    const step = this.schedule.time ? this.letOneThrough() : this.letAllThrough();
    if (step || this.areStuck) return step;
    const group = this.groups.shift();
    return group && { send: [], deliver: () => this.start(group) };
  }

  private start(group: GatedInstance[]): void {
    const { oracle, gate, time } = this.schedule;
    const ids = oracle.requiredIds();
    this.asking = group;
    for (const instance of group) {
      if (!time) instance.held.length = 0;
      if (!instance.isAlive || this.schedule.failed) continue;
      gate.working = instance;
      const { filter, name } = instance;
      const judge = oracle.expect(ids, name);
      this.unanswered++;
      void filter
        .checkMany(ids)
        .then(judge)
        .then(async () => {
          for (const id of ids) oracle.expect([id], name)([await instance.guarded(id)]);
          this.unanswered--;
        });
    }
  }

  private letAllThrough(): Step | undefined {
    const { gate, options } = this.schedule;
    const waiting = this.asking.flatMap((instance) => instance.held.map((held) => ({ instance, held })));
    if (waiting.length === 0) return undefined;
    const commands = waiting.filter(({ held }) => held.command);
    return {
      send: commands.map(({ held }) => rawCommand(held.command!, held.what, options.breakage)),
      deliver: (replies) => {
        for (const { instance, held } of waiting) remove(instance.held, held);
        commands.forEach(({ instance, held }, i) => gate.answer(instance, held, replies[i]!));
        for (const { held } of waiting) if (!held.command) held.go();
      },
    };
  }

  /** Whatever goes on beside the checks, a process with leases does for ever. */
  private letOneThrough(): Step | undefined {
    const [instance] = this.asking;
    if (!instance || !this.areStuck) return undefined;
    const held = instance.held.find((one) => one.isOfFeed !== true && one.isDue());
    return held && this.schedule.gate.letThrough(instance, held);
  }
}
