import {
  coreLua,
  defineScripts,
  type OfflineState,
  PENDING,
  publishStep,
  type RedisConnection,
  type Refusal,
} from 'nestjs-bloom/internal';
import { generationLua } from '../../lua/generation.generated.js';
import type { GenerationKeys } from './generation-keys.js';
import { GENERATION_FORMAT, type StoredGeneration, generationFields } from './generation-meta.js';

/** The scripts on the metadata of filters on keys of others. */
export class GenerationScripts {
  private readonly scripts = {
    ...defineScripts(coreLua, ['publish', 'withdraw']),
    ...defineScripts(generationLua, ['generationOffline']),
  };

  constructor(
    private readonly connection: RedisConnection,
    /** The application that claims what it publishes. */
    private readonly owner = '',
  ) {}

  /** False: the metadata hold another token by now. */
  async offline(
    keys: GenerationKeys,
    options: { token: string; state: OfflineState; nonsense: boolean; builds: number },
  ): Promise<boolean> {
    const { token, state, nonsense, builds } = options;
    const args = [token, state, GENERATION_FORMAT, nonsense ? 1 : 0, builds];
    return String(await this.connection.run(this.scripts.generationOffline, [keys.meta], args)) === 'OK';
  }

  async publish(
    keys: GenerationKeys,
    options: {
      lease: string;
      runId: string;
      generation: StoredGeneration;
      layout: number;
      fields: readonly string[];
    },
  ): Promise<Refusal | 'OK'> {
    const { lease, runId, generation, layout, fields } = options;
    return publishStep(this.connection, this.scripts.publish, keys, {
      lease,
      runId,
      format: GENERATION_FORMAT,
      owner: this.owner,
      makesMeta: true,
      fields: [...fields, ...generationFields(generation, layout, PENDING)],
    });
  }

  async withdraw(keys: GenerationKeys, token: string): Promise<void> {
    await this.connection.run(this.scripts.withdraw, [keys.meta], [token]);
  }
}
