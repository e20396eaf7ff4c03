import { describeError } from '../../../common/index.js';
import { BfDriver } from '../bf/bf-driver.js';
import { blockedPermissions } from '../blocked/blocked-permissions.js';
import { CfDriver } from '../cf/cf-driver.js';
import { CfKeys } from '../cf/cf-keys.js';
import type { RedisConnection } from '../client/redis-connection.js';
import { GrowingKeys } from '../growing/growing-keys.js';
import { growingPermissions } from '../growing/growing-permissions.js';
import { GenerationKeys } from '../protocol/generation-keys.js';
import { metadataPermissions, refusedPermissions } from '../protocol/permissions.js';
import { RedisKeys } from '../protocol/redis-keys.js';
import type { ServerScripts } from '../protocol/server-scripts.js';
import { INSPECTION_PLAN } from './command-kinds.js';

/** Kinds of filters whose commands can be tried without knowing a key of another system. */
export const INSPECTED_KINDS = ['blocked', 'scaling', 'redisbloom', 'cuckoo'] as const;
export type InspectedKindName = (typeof INSPECTED_KINDS)[number];

export interface ServerInspectorOptions {
  readonly keyPrefix: string;
  readonly connection: RedisConnection;
  readonly scripts: ServerScripts;
}

/** Looks at what a server gives to filters of a name. */
export class ServerInspector {
  constructor(private readonly options: ServerInspectorOptions) {}

  /**
   * What the server refuses of all that a filter needs, as an application tries it when it starts: keys of its own are written, and removed.
   *
   * @throws {BloomUnavailableError} when the server cannot be asked.
   */
  async refused(kind: InspectedKindName, name: string): Promise<readonly string[]> {
    const { keyPrefix, connection } = this.options;
    switch (kind) {
      case 'blocked':
        return refusedPermissions(connection, blockedPermissions(new RedisKeys(keyPrefix, name)));
      case 'scaling':
        return refusedPermissions(connection, growingPermissions(new GrowingKeys(keyPrefix, name)));
      case 'redisbloom': {
        const keys = new GenerationKeys(`${keyPrefix}:{${name}}:bf`);
        const common = { filter: name, emit: () => {}, connection, keys, plan: INSPECTION_PLAN };
        return this.refusedTo(new BfDriver({ ...common, ownsKey: true }), keys.probe);
      }
      case 'cuckoo': {
        const keys = new CfKeys(keyPrefix, name);
        const layout = {};
        const common = { filter: name, connection, keys, plan: INSPECTION_PLAN };
        return this.refusedTo(new CfDriver({ ...common, layout, hasSource: true, drainMs: 0 }), keys.probe);
      }
    }
  }

  /** Signs of a proxy between this process and the server. */
  proxySigns(): Promise<readonly string[]> {
    return this.options.connection.path.adviseAtStart();
  }

  private async refusedTo(
    driver: Pick<BfDriver | CfDriver, 'verify' | 'permissions'>,
    probe: string,
  ): Promise<readonly string[]> {
    try {
      await driver.verify();
    } catch (error) {
      return [describeError(error)];
    }
    return refusedPermissions(this.options.connection, [
      ...metadataPermissions(probe),
      ...driver.permissions(),
    ]);
  }
}
