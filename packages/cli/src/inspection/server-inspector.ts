import type { RedisConnection, ServerScripts } from 'nestjs-bloom/internal';
import { COMMAND_TRIALS } from './command-trials.js';

export type InspectedKindName = keyof typeof COMMAND_TRIALS;
export const INSPECTED_KINDS = Object.keys(COMMAND_TRIALS) as InspectedKindName[];

export interface ServerInspectorOptions {
  readonly keyPrefix: string;
  readonly connection: RedisConnection;
  readonly scripts: ServerScripts;
}

/** An inspection from outside asks for no filter. */
const NO_FILTER = '';

/** Looks at what a server gives to filters of a name. */
export class ServerInspector {
  constructor(private readonly options: ServerInspectorOptions) {}

  /**
   * What the server refuses of all that a filter needs, as an application tries it when it starts: keys of
   * its own are written, and removed.
   *
   * @throws {BloomUnavailableError} when the server cannot be asked.
   */
  async refused(kind: InspectedKindName, name: string): Promise<readonly string[]> {
    const { keyPrefix, connection } = this.options;
    return COMMAND_TRIALS[kind]({ keyPrefix, connection, name });
  }

  /** Signs of a proxy between this process and the server. */
  proxySigns(): Promise<readonly string[]> {
    return this.options.connection.path.adviseAtStart(NO_FILTER);
  }
}
