import type { DiscoveryService } from '@nestjs/core';
import { BloomConfigError } from '../common/index.js';
import { type FilterUse, GuardValidator } from '../guard/index.js';
import {
  type BloomFeature,
  FilterRegistry,
  type FilterRegistryContext,
  type SourceMaker,
} from '../module/index.js';
import type { ManagedFilter } from '../service/index.js';
import type { FilterTokens } from './filter-tokens.js';
import type { Behaviour } from './tested-filters.js';
import type { TestingService } from './testing-service.js';
import type { TestingStore } from './testing-store.js';
import { idsNotNamed } from './testing.messages.js';

const USUAL_CAPACITY = 1000;

export interface TestingContext extends FilterRegistryContext {
  readonly store: TestingStore;
  readonly service: TestingService;
  readonly tokens: FilterTokens;
  readonly discovery: DiscoveryService;
}

/**
 * Makes the filters of a test: those that its modules register, and those that only its decorators and
 * injections name.
 */
export class TestingRegistry extends FilterRegistry {
  override readonly isOfTest = true;

  constructor(
    private readonly context: TestingContext,
    private readonly behaviour: Behaviour,
  ) {
    super(context);
    context.service.provide = (name) => {
      if (behaviour.kind !== 'ids' || this.idsOf(name)) this.registerByName(name);
    };
  }

  override register(feature: BloomFeature): ManagedFilter {
    const filter = super.register(ofTest(feature));
    if (!filter.definition.awaitsSpelling) this.fill(filter);
    return filter;
  }

  override async validate(): Promise<void> {
    const { discovery, service, tokens } = this.context;
    // What stands in for a filter is one of the filters of the application.
    for (const name of tokens.names()) service.find(name);
    await super.validate();
    for (const filter of this.filters) if (filter.definition.awaitsSpelling) this.fill(filter);
    const uses = [...new GuardValidator(discovery, service).uses()];
    const { behaviour } = this;
    if (behaviour.kind === 'ids') for (const name of Object.keys(behaviour.ids)) service.find(name);
    const lost = uses.filter(({ filter: { name } }) => name !== undefined && !service.find(name));
    if (behaviour.kind === 'ids' && lost.length > 0) throw unnamed(lost[0]!, Object.keys(behaviour.ids));
  }

  /**
   * What a source is made from, such as the database, may be left out of a test: then ids are taken as they
   * are written.
   */
  protected override async makeSource(maker: SourceMaker): Promise<void> {
    try {
      await super.makeSource(maker);
    } catch (error) {
      if (!maker.isFactory) throw error;
      maker.takeIdsAsWritten();
    }
  }

  private fill({ name, keys }: ManagedFilter): void {
    const ids = this.idsOf(name);
    if (ids)
      this.context.store.fill(
        name,
        ids.map((id) => keys.of(id)),
      );
  }

  private registerByName(name: string): void {
    const { discovery, service } = this.context;
    const uses = [...new GuardValidator(discovery, service).uses()];
    const scoped = uses.some((use) => use.filter.name === name && use.isScoped);
    this.register({ name, capacity: Math.max(USUAL_CAPACITY, this.idsOf(name)?.length ?? 0), scoped });
  }

  private idsOf(name: string) {
    const { behaviour } = this;
    return behaviour.kind === 'ids' && Object.hasOwn(behaviour.ids, name) ? behaviour.ids[name] : undefined;
  }
}

/**
 * A test builds when it asks for it, needs no `ScheduleModule`, and counts calls, so that none is audited.
 */
function ofTest({ rebuild, topUp: _topUp, coverage: _coverage, ...options }: BloomFeature): BloomFeature {
  const feature = { ...options, audit: false, coverage: 'none' } as const;
  if (feature.source === undefined) return { ...feature, ...(rebuild && { rebuild }) };
  const { cron: _cron, timeZone: _timeZone, everyMs: _everyMs, ...rest } = rebuild ?? {};
  return { ...feature, rebuild: { ...rest, onBoot: 'never' } };
}

function unnamed({ decorator, filter, method }: FilterUse, names: readonly string[]): BloomConfigError {
  const given = names.length > 0 ? names.map((name) => `'${name}'`).join(', ') : 'no filter';
  return new BloomConfigError(
    idsNotNamed(decorator, filter.text, method, given, JSON.stringify(filter.name)),
  );
}
