import { type BloomEventListener, systemClock } from '../common/index.js';
import {
  type AttackChange,
  AttackRule,
  type AttackSettings,
  attackSettings,
  type BloomService,
  ClientCounts,
  type ManagedFilter,
  MAX_CLIENTS,
  SAMPLE_MS,
} from '../service/index.js';
import type { BloomModuleOptions } from './bloom-module-options.js';
import type { EventHub } from './event-hub.js';

const NO_METHODS: ReadonlyMap<string, number> = new Map();

interface Watched {
  readonly filter: Pick<ManagedFilter, 'name' | 'guarding'>;
  readonly rule: AttackRule;
  /** As the last reading found them. */
  absents: number;
  methods: ReadonlyMap<string, number>;
}

export interface AttackMonitorContext {
  readonly settings: AttackSettings;
  readonly service: Pick<BloomService, 'worstClients'>;
  readonly emit: BloomEventListener;
}

/** Reads what the guards of this process have counted, and reports attacks on its filters. */
export class AttackMonitor {
  private watched: readonly Watched[] = [];
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly context: AttackMonitorContext) {}

  start(filters: readonly Watched['filter'][]): void {
    if (filters.length === 0) return;
    this.watched = filters.map((filter) => ({
      filter,
      rule: new AttackRule(this.context.settings),
      absents: 0,
      methods: NO_METHODS,
    }));
    this.timer = setInterval(() => this.read(), SAMPLE_MS);
    this.timer.unref();
    this.read();
  }

  stop(): void {
    clearInterval(this.timer);
    this.timer = undefined;
  }

  private read(): void {
    const now = performance.now();
    for (const one of this.watched) {
      const { guarding } = one.filter;
      const { absent, maybe, unknown, invalid } = guarding;
      if (absent !== one.absents) {
        one.methods = new Map(guarding.methods.all().map((counts) => [counts.method, counts.absent]));
        one.absents = absent;
      }
      const lookups = absent + maybe + unknown + invalid;
      const change = one.rule.read({ now, absents: absent, lookups, methods: one.methods });
      if (change) this.report(one.filter.name, change, now);
    }
  }

  private report(filter: string, change: AttackChange, now: number): void {
    const { emit, service } = this.context;
    const { method } = change;
    const clients = service.worstClients(filter);
    if (change.type === 'started') {
      const { rate, share, usualRate } = change;
      const since = new Date(Date.now() - (now - change.since));
      emit({ type: 'attack-started', filter, method, rate, share, usualRate, since, clients });
    } else {
      const { durationMs, absents, peakRate } = change;
      emit({ type: 'attack-ended', filter, method, durationMs, absents, peakRate, clients });
    }
  }
}

/** What reports attacks; undefined with `attack: false`. */
export function attackMonitor(
  { attack = {} }: BloomModuleOptions,
  { service, events: { emit } }: { readonly service: BloomService; readonly events: EventHub },
): AttackMonitor | undefined {
  return attack ? new AttackMonitor({ settings: attackSettings(attack), service, emit }) : undefined;
}

/** What counts the absents of clients; undefined where the application does not name them. */
export function clientCounts(
  { attack }: BloomModuleOptions,
  { emit }: Pick<EventHub, 'emit'>,
): ClientCounts | undefined {
  if (!attack || !attack.client) return undefined;
  const { client, maxClients = MAX_CLIENTS } = attack;
  return new ClientCounts({ client, maxClients, clock: systemClock, emit });
}
