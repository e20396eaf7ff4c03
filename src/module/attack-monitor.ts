import type { BloomEventListener } from '../common/index.js';
import {
  type AttackChange,
  AttackRule,
  type BloomAttackOptions,
  type BloomService,
  type ManagedFilter,
  SAMPLE_MS,
} from '../service/index.js';

const NO_METHODS: ReadonlyMap<string, number> = new Map();

interface Watched {
  readonly filter: Pick<ManagedFilter, 'name' | 'guarding'>;
  readonly rule: AttackRule;
  /** As the last reading found them. */
  absents: number;
  methods: ReadonlyMap<string, number>;
}

/** Reads what the guards of this process have counted, and reports attacks on its filters. */
export class AttackMonitor {
  private watched: readonly Watched[] = [];
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly options: BloomAttackOptions,
    private readonly service: Pick<BloomService, 'worstClients'>,
    private readonly emit: BloomEventListener,
  ) {}

  start(filters: readonly Watched['filter'][]): void {
    if (filters.length === 0) return;
    this.watched = filters.map((filter) => ({
      filter,
      rule: new AttackRule(this.options),
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
    const { emit, service } = this;
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
