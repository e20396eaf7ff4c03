import type {
  BeforeApplicationShutdown,
  OnApplicationBootstrap,
  OnApplicationShutdown,
  OnModuleInit,
} from '@nestjs/common';
import { type BloomGuardRunner, type GuardValidator, recordClosed, recordRunning } from '../guard/index.js';
import type { FilterStore } from '../store/index.js';
import type { AttackMonitor } from './attack-monitor.js';
import type { AnyModuleOptions } from './bloom-module-options.js';
import type { EventHandlers, EventHub } from './event-hub.js';
import type { FilterRegistry } from './filter-registry.js';
import type { FilterMonitor } from './filter-monitor.js';
import type { RebuildScheduler } from './rebuild-scheduler.js';
import type { Setup } from './bloom-tokens.js';

/** With a `runtime`, nothing is started, and nothing is asked of the store before a call needs it. */
export interface LifecycleContext extends Pick<AnyModuleOptions, 'runtime'> {
  readonly setup: Setup;
  readonly store: FilterStore;
  readonly registry: FilterRegistry;
  readonly scheduler: RebuildScheduler;
  readonly watch: FilterMonitor;
  /** Undefined where attacks are not reported. */
  readonly attacks: AttackMonitor | undefined;
  readonly runner: BloomGuardRunner;
  readonly validator: GuardValidator;
  readonly events: EventHub;
  readonly handlers: EventHandlers;
}

/**
 * The command line finds the lifecycle by this name, also if the application has its own copy of this
 * package.
 */
export const RUN_BY_TOOL = Symbol.for('nestjs-bloom.runByTool');

/** What in the setup endangers a filter. */
export interface FilterAdvice {
  /** The filter's name. */
  readonly filter: string;
  /** What it is, and what to do about it. */
  readonly text: string;
}

/** What a program gets that runs an application for its filters alone. */
export interface ToolHandle {
  /** What in the setup endangers the filters. */
  advise(): Promise<readonly FilterAdvice[]>;
}

/** What happens when the application starts and stops, in order. */
export class BloomLifecycle
  implements OnModuleInit, OnApplicationBootstrap, BeforeApplicationShutdown, OnApplicationShutdown
{
  private isRunByTool = false;

  constructor(private readonly parts: LifecycleContext) {}

  /** Called before the application is initialised: no filter is made, rebuilt or looked after unasked. */
  [RUN_BY_TOOL](): ToolHandle {
    this.isRunByTool = true;
    const { registry, watch } = this.parts;
    return {
      advise: async () => {
        const advice = await Promise.all(
          registry.filters.map(async (filter) => ({
            filter: filter.name,
            texts: await watch.adviceOn(filter),
          })),
        );
        return advice.flatMap(({ filter, texts }) => texts.map((text) => ({ filter, text })));
      },
    };
  }

  /** Every filter is registered by now. */
  async onModuleInit(): Promise<void> {
    const { setup, registry, validator, runner, store, events, handlers, runtime } = this.parts;
    setup.dropMissing();
    try {
      events.addHandlers(handlers.find());
      await registry.validate();
      validator.validate();
      runner.learnSingletons(validator.singletons());
      if (!runtime || this.isRunByTool) await Promise.all(registry.filters.map((filter) => filter.verify()));
    } catch (error) {
      // Nest calls no other hook after this.
      await store.close();
      throw error;
    }
    if (this.isRunByTool) return;
    if (!registry.isOfTest) recordRunning(this);
    if (runtime) return;
    await Promise.all(
      registry.filters.filter(({ definition }) => !definition.source).map((filter) => this.create(filter)),
    );
  }

  async onApplicationBootstrap(): Promise<void> {
    const { scheduler, registry, watch, attacks, validator, runner, runtime } = this.parts;
    if (this.isRunByTool) return;
    try {
      validator.validateNames(runner.recorded);
      validator.validateSkips(runner.hasRoutesOfInterceptors);
      if (runtime) return;
      // Before the first request: what is set for all processes counts from the start.
      await Promise.all([registry.startBeating(), registry.startFollowing()]);
      await scheduler.start(registry.filters);
    } catch (error) {
      await this.beforeApplicationShutdown();
      await this.onApplicationShutdown();
      throw error;
    }
    watch.start(registry.filters);
    if (!registry.isOfTest) attacks?.start(registry.filters);
  }

  /** Requests are still served: lookups and adds go on, rebuilds do not. */
  async beforeApplicationShutdown(): Promise<void> {
    this.parts.watch.stop();
    this.parts.attacks?.stop();
    await Promise.all([this.parts.scheduler.stop(), this.parts.registry.stopRebuilds()]);
  }

  async onApplicationShutdown(): Promise<void> {
    const { registry, runner, store } = this.parts;
    recordClosed(this);
    await runner.close();
    await registry.close();
    await store.close();
  }

  /** A store that cannot be reached does not keep the application from starting. */
  private async create(filter: FilterRegistry['filters'][number]): Promise<void> {
    try {
      await filter.create();
    } catch (error) {
      this.parts.events.emit({ type: 'store-error', filter: filter.name, operation: 'create', error });
    }
  }
}
