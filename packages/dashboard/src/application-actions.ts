import { describeError } from 'nestjs-bloom/integrations';
import type { BloomDashboardAction } from './dashboard-options.js';
import type { ActionView } from './dashboard-view.js';

const MAX_TEXT = 300;

/** The buttons of the application: one run of each at a time, ended with the application. */
export class ApplicationActions {
  private readonly running = new Set<string>();
  private readonly outcomes = new Map<string, NonNullable<ActionView['outcome']>>();
  private readonly ended = new AbortController();

  constructor(private readonly actions: readonly BloomDashboardAction[]) {}

  views(): ActionView[] {
    return this.actions.map(({ name, description }) => ({
      name,
      description,
      isRunning: this.running.has(name),
      outcome: this.outcomes.get(name),
    }));
  }

  /** @returns why it did not start. */
  start(name: unknown, by: string): 'no such action' | 'running' | undefined {
    const action = this.actions.find((one) => one.name === name);
    if (!action) return 'no such action';
    if (this.running.has(action.name)) return 'running';
    this.running.add(action.name);
    void this.run(action, by);
    return undefined;
  }

  stop(): void {
    this.ended.abort();
  }

  private async run(action: BloomDashboardAction, by: string): Promise<void> {
    const end = (text: string, isError: boolean) =>
      this.outcomes.set(action.name, { at: Date.now(), text: text.slice(0, MAX_TEXT), isError });
    this.outcomes.delete(action.name);
    try {
      const result = await action.run({ by, signal: this.ended.signal });
      end(typeof result === 'string' ? result : 'Done.', false);
    } catch (error) {
      end(describeError(error), true);
    } finally {
      this.running.delete(action.name);
    }
  }
}
