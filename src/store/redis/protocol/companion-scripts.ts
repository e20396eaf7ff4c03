import { BloomUnavailableError } from '../../../common/index.js';
import type { RedisConnection } from '../client/redis-connection.js';
import { defineScripts, type LuaSources } from '../client/script.js';
import type { CompanionKeys } from './companion-keys.js';
import { COMPANION_FORMAT, type CompanionGeneration, generationFields } from './companion-meta.js';

export type CompanionRefusal = 'OWNER' | 'LEASE' | 'NOMETA' | 'FORMAT' | 'SERVER';

const REPLIES = new Set<string>(['OK', 'OWNER', 'LEASE', 'NOMETA', 'FORMAT', 'SERVER'] satisfies (
  CompanionRefusal | 'OK'
)[]);

/** The scripts on the metadata of filters on keys of others. */
export class CompanionScripts {
  private readonly scripts;

  constructor(
    private readonly connection: RedisConnection,
    sources?: LuaSources,
    /** The application that claims what it publishes. */
    private readonly owner = '',
  ) {
    this.scripts = defineScripts(['companionOffline', 'companionPublish', 'companionWithdraw'], sources);
  }

  /** False: the metadata hold another token by now. */
  async offline(
    keys: CompanionKeys,
    options: { token: string; state: 'lost' | 'suspect'; nonsense: boolean; builds: number },
  ): Promise<boolean> {
    const { token, state, nonsense, builds } = options;
    const args = [token, state, COMPANION_FORMAT, nonsense ? 1 : 0, builds];
    return String(await this.connection.run(this.scripts.companionOffline, [keys.meta], args)) === 'OK';
  }

  async publish(
    keys: CompanionKeys,
    options: { lease: string; runId: string; generation: CompanionGeneration; layout: number },
  ): Promise<CompanionRefusal | 'OK'> {
    const { lease, runId, generation, layout } = options;
    const fields = generationFields(generation, layout, 'pending.');
    const reply = String(
      await this.connection.run(
        this.scripts.companionPublish,
        [keys.meta, keys.lease],
        [lease, runId, COMPANION_FORMAT, this.owner, ...fields],
      ),
    );
    if (REPLIES.has(reply)) return reply as CompanionRefusal | 'OK';
    throw new BloomUnavailableError(`Redis answered '${reply}' to the script 'companion-publish'.`);
  }

  async withdraw(keys: CompanionKeys, token: string): Promise<void> {
    await this.connection.run(this.scripts.companionWithdraw, [keys.meta], [token]);
  }
}
