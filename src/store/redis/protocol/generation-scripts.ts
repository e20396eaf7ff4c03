import { BloomUnavailableError } from '../../../common/index.js';
import type { RedisConnection } from '../client/redis-connection.js';
import { defineScripts, type LuaSources } from '../client/script.js';
import { coreLua } from '../lua/core.generated.js';
import type { GenerationKeys } from './generation-keys.js';
import { GENERATION_FORMAT, type StoredGeneration, generationFields } from './generation-meta.js';

export type PublishRefusal = 'OWNER' | 'LEASE' | 'NOMETA' | 'FORMAT' | 'SERVER';

const REPLIES = new Set<string>(['OK', 'OWNER', 'LEASE', 'NOMETA', 'FORMAT', 'SERVER'] satisfies (
  PublishRefusal | 'OK'
)[]);

/** The scripts on the metadata of filters on keys of others. */
export class GenerationScripts {
  private readonly scripts;

  constructor(
    private readonly connection: RedisConnection,
    sources?: LuaSources,
    /** The application that claims what it publishes. */
    private readonly owner = '',
  ) {
    this.scripts = defineScripts(
      coreLua,
      ['generationOffline', 'generationPublish', 'generationWithdraw'],
      sources,
    );
  }

  /** False: the metadata hold another token by now. */
  async offline(
    keys: GenerationKeys,
    options: { token: string; state: 'lost' | 'suspect'; nonsense: boolean; builds: number },
  ): Promise<boolean> {
    const { token, state, nonsense, builds } = options;
    const args = [token, state, GENERATION_FORMAT, nonsense ? 1 : 0, builds];
    return String(await this.connection.run(this.scripts.generationOffline, [keys.meta], args)) === 'OK';
  }

  async publish(
    keys: GenerationKeys,
    options: { lease: string; runId: string; generation: StoredGeneration; layout: number },
  ): Promise<PublishRefusal | 'OK'> {
    const { lease, runId, generation, layout } = options;
    const fields = generationFields(generation, layout, 'pending.');
    const reply = String(
      await this.connection.run(
        this.scripts.generationPublish,
        [keys.meta, keys.lease],
        [lease, runId, GENERATION_FORMAT, this.owner, ...fields],
      ),
    );
    if (REPLIES.has(reply)) return reply as PublishRefusal | 'OK';
    throw new BloomUnavailableError(`Redis answered '${reply}' to the script 'generation-publish'.`);
  }

  async withdraw(keys: GenerationKeys, token: string): Promise<void> {
    await this.connection.run(this.scripts.generationWithdraw, [keys.meta], [token]);
  }
}
