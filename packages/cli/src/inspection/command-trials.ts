import {
  BfDriver,
  CfDriver,
  CfKeys,
  GenerationKeys,
  GrowingKeys,
  growingPermissions,
} from '@nestjs-bloom/interop/internal';
import {
  blockedPermissions,
  metadataPermissions,
  type RedisConnection,
  RedisKeys,
  refusedPermissions,
} from 'nestjs-bloom/internal';
import { withCode } from '../cli-error.js';
import { INSPECTION_PLAN } from './command-kinds.js';

export interface TrialContext {
  readonly keyPrefix: string;
  readonly connection: RedisConnection;
  /** Name of the filter. */
  readonly name: string;
}

/** What the server refuses of all that a filter of one kind needs. */
type CommandTrial = (context: TrialContext) => Promise<readonly string[]>;

/** Kinds of filters whose commands can be tried without knowing a key of another system. */
export const COMMAND_TRIALS = {
  blocked: ({ connection, keyPrefix, name }) =>
    refusedPermissions(connection, blockedPermissions(new RedisKeys(keyPrefix, name))),

  scaling: ({ connection, keyPrefix, name }) =>
    refusedPermissions(connection, growingPermissions(new GrowingKeys(keyPrefix, name))),

  redisbloom: ({ connection, keyPrefix, name }) => {
    const keys = new GenerationKeys(`${keyPrefix}:{${name}}:bf`);
    const settings = { filter: name, emit: () => {}, connection, keys, plan: INSPECTION_PLAN };
    return refusedToDriver(connection, new BfDriver({ ...settings, ownsKey: true }), keys.probe);
  },

  cuckoo: ({ connection, keyPrefix, name }) => {
    const keys = new CfKeys(keyPrefix, name);
    const settings = { filter: name, connection, keys, plan: INSPECTION_PLAN, layout: {} };
    return refusedToDriver(
      connection,
      new CfDriver({ ...settings, hasSource: true, drainMs: 0 }),
      keys.probe,
    );
  },
} as const satisfies Readonly<Record<string, CommandTrial>>;

async function refusedToDriver(
  connection: RedisConnection,
  driver: Pick<BfDriver | CfDriver, 'verify' | 'permissions'>,
  probe: string,
): Promise<readonly string[]> {
  try {
    await driver.verify();
  } catch (error) {
    return [withCode(error)];
  }
  return refusedPermissions(connection, [...metadataPermissions(probe), ...driver.permissions()]);
}
