import type { PartEpochs } from '../../index.js';
import { asUnavailable, unavailable } from '../protocol/batching-filter.js';
import type { BlockedContext } from './blocked-context.js';

/**
 * The epoch of a filter in Redis, beside the metadata of its first part, and the end of what others have
 * built in a part.
 */
export class RedisPartEpochs implements PartEpochs {
  constructor(private readonly context: BlockedContext) {}

  ask(): Promise<string> {
    return this.replace('', '');
  }

  async replace(before: string, next: string): Promise<string> {
    const { scripts, keys } = this.context;
    try {
      return await scripts.epoch(keys.epoch, before, next);
    } catch (error) {
      throw asUnavailable(error);
    }
  }

  async endOthers(): Promise<void> {
    await unavailable(this.context.metadata.endAllOthers());
  }
}
