import { Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { type BloomFilter, InjectBloomFilter } from 'nestjs-bloom';
import { Database } from '../database/database.js';
import { customers } from '../database/schema.js';

/**
 * The first build of the filter. A rebuild refuses a source without ids, since that is mostly a mistake; a new shop, however,
 * has no customers yet, and says so with `force`.
 */
@Injectable()
export class PhonesFilterStarter implements OnApplicationBootstrap {
  private readonly logger = new Logger(PhonesFilterStarter.name);

  constructor(
    private readonly database: Database,
    @InjectBloomFilter('phones') private readonly filter: BloomFilter,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    try {
      if ((await this.filter.info()).state === 'ready') return;
      const force = (await this.database.orm.$count(customers)) === 0;
      await this.filter.rebuild({ force });
    } catch (error) {
      this.logger.warn(`Sign-ups ask the table until the filter is built. ${(error as Error).message}`);
    }
  }
}
