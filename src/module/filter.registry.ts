import type { Type } from '@nestjs/common';
import type { ModuleRef } from '@nestjs/core';
import { BloomConfigError, systemClock } from '../common/index.js';
import type { BloomIdSource } from '../rebuild/index.js';
import { type BloomService, defineFilter, ManagedFilter } from '../service/index.js';
import type { FilterStore } from '../store/index.js';
import type { BloomFeature } from './bloom-module.options.js';
import type { EventHub } from './event.hub.js';
import { sourceNotProvided } from './module.messages.js';

export interface FilterRegistryContext {
  readonly store: FilterStore;
  readonly service: BloomService;
  readonly events: EventHub;
  readonly moduleRef: ModuleRef;
}

/** Creates the filters of an application. */
export class FilterRegistry {
  readonly filters: ManagedFilter[] = [];
  private readonly sources: (() => BloomIdSource)[] = [];

  constructor(private readonly parts: FilterRegistryContext) {}

  /** @throws {BloomConfigError} for options that cannot work, and for a name that is taken. */
  register(feature: BloomFeature): ManagedFilter {
    const { source, ...options } = feature;
    const definition = defineFilter(
      source === undefined ? options : { ...options, source: this.resolvable(feature.name, source) },
    );
    const { store, service, events } = this.parts;
    const filter = new ManagedFilter(definition, { store, emit: events.emit, clock: systemClock });
    service.register(filter);
    this.filters.push(filter);
    return filter;
  }

  /**
   * To be called when every module has been created.
   *
   * @throws {BloomConfigError} for a source class that is not a provider.
   */
  async validate(): Promise<void> {
    for (const resolve of this.sources) resolve();
  }

  async stopRebuilds(): Promise<void> {
    await Promise.all(this.filters.map((filter) => filter.stopRebuilds()));
  }

  async close(): Promise<void> {
    await Promise.all(this.filters.map((filter) => filter.close()));
  }

  /** A class is looked up when it is needed: by then every module has been created. */
  private resolvable(name: string, source: BloomIdSource | Type<BloomIdSource>): BloomIdSource {
    if (typeof source !== 'function') return source;
    const resolve = () => this.resolve(name, source);
    this.sources.push(resolve);
    return {
      ids: (context) => resolve().ids(context),
      count: async () => resolve().count?.(),
    };
  }

  private resolve(name: string, source: Type<BloomIdSource>): BloomIdSource {
    try {
      return this.parts.moduleRef.get<BloomIdSource>(source, { strict: false });
    } catch (cause) {
      throw new BloomConfigError(sourceNotProvided(name, source.name), { cause });
    }
  }
}
