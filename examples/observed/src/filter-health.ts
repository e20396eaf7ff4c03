import { Injectable, Logger } from '@nestjs/common';
import { HealthIndicatorService } from '@nestjs/terminus';
import { BloomService } from 'nestjs-bloom';

@Injectable()
export class FilterHealth {
  private readonly logger = new Logger(FilterHealth.name);

  constructor(
    private readonly bloom: BloomService,
    private readonly indicator: HealthIndicatorService,
  ) {}

  /** Always up: an application without its filter still answers, with more queries. */
  isAlive(filter: string) {
    const known = this.bloom.metrics().find((one) => one.filter === filter);
    return this.indicator.check(filter).up({ state: known?.state, mode: known?.mode });
  }

  /** Up while the filter protects. Asks Redis. */
  async isReady(filter: string) {
    const asked = this.bloom.filter(filter);
    const session = this.indicator.check(filter);
    try {
      const { state } = await asked.info();
      return state === 'ready' ? session.up({ state }) : session.down({ state });
    } catch (error) {
      this.logger.warn(`The state of filter '${filter}' is not known: ${error}`);
      return session.down({ state: 'unavailable' });
    }
  }
}
