import { BloomUnavailableError } from '../../../common/index.js';
import { type RedisConnection, Script } from '../client/redis-connection.js';
import type { LuaSources } from '../blocked/redis-scripts.js';
import { luaSources } from '../scripts.generated.js';
import type { CompanionKeys } from './companion-keys.js';
import { COMPANION_FORMAT, type CompanionGeneration, generationFields } from './companion-meta.js';

export type CompanionRefusal = 'OWNER' | 'LEASE' | 'NOMETA' | 'FORMAT' | 'SERVER';

const REPLIES = new Set<string>(['OK', 'OWNER', 'LEASE', 'NOMETA', 'FORMAT', 'SERVER'] satisfies (
  CompanionRefusal | 'OK'
)[]);

/** The scripts on the metadata of filters on keys of others. */
export class CompanionScripts {
  private readonly offlineScript: Script;
  private readonly publishScript: Script;
  private readonly withdrawScript: Script;

  constructor(
    private readonly connection: RedisConnection,
    sources: LuaSources = luaSources,
    /** The application that claims what it publishes. */
    private readonly owner = '',
  ) {
    this.offlineScript = new Script('companion-offline', sources.companionOffline.source);
    this.publishScript = new Script('companion-publish', sources.companionPublish.source);
    this.withdrawScript = new Script('companion-withdraw', sources.companionWithdraw.source);
  }

  /** False: the metadata hold another token by now. */
  async offline(
    keys: CompanionKeys,
    options: { token: string; state: 'lost' | 'suspect'; nonsense: boolean; builds: number },
  ): Promise<boolean> {
    const { token, state, nonsense, builds } = options;
    const args = [token, state, COMPANION_FORMAT, nonsense ? 1 : 0, builds];
    return String(await this.connection.run(this.offlineScript, [keys.meta], args)) === 'OK';
  }

  async publish(
    keys: CompanionKeys,
    options: { lease: string; runId: string; generation: CompanionGeneration; layout: number },
  ): Promise<CompanionRefusal | 'OK'> {
    const { lease, runId, generation, layout } = options;
    const fields = generationFields(generation, layout, 'pending.');
    const reply = String(
      await this.connection.run(
        this.publishScript,
        [keys.meta, keys.lease],
        [lease, runId, COMPANION_FORMAT, this.owner, ...fields],
      ),
    );
    if (REPLIES.has(reply)) return reply as CompanionRefusal | 'OK';
    throw new BloomUnavailableError(`Redis answered '${reply}' to the script 'companion-publish'.`);
  }

  async withdraw(keys: CompanionKeys, token: string): Promise<void> {
    await this.connection.run(this.withdrawScript, [keys.meta], [token]);
  }
}
