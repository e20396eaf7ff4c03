import type { ClientOptions, ConnectionOptions, Place } from './connection.js';
import { ExtraClient } from './extra-client.js';
import { knowsNoMaster } from './node-redis.messages.js';
import { type Address, type AddressMap, mapped, ServerPlace } from './place.js';

/** What is used of the options of `createSentinel()`. */
export interface SentinelOptions {
  readonly name: string;
  readonly sentinelRootNodes: readonly Address[];
  readonly nodeClientOptions?: ClientOptions;
  readonly sentinelClientOptions?: ClientOptions;
  readonly nodeAddressMap?: AddressMap;
  readonly keyPrefix?: unknown;
}

/** A sentinel that has not answered by then is left out. */
const ASK_WITHIN_MS = 1000;

/** The master that sentinels name, asked before each connection. */
export class SentinelPlace implements Place {
  constructor(private readonly options: SentinelOptions) {}

  get socket() {
    return this.options.nodeClientOptions?.socket ?? {};
  }

  async newClient(options: ConnectionOptions) {
    const { nodeClientOptions = {} } = this.options;
    const address = await this.master();
    const socket = { ...options.socket, ...address };
    return new ServerPlace(nodeClientOptions).newClient({ ...options, socket });
  }

  /**
   * The one that most sentinels name: one that is cut off names the master of before. Waits for no other once
   * more than half agree.
   */
  private async master(): Promise<Address> {
    const { sentinelRootNodes: sentinels } = this.options;
    const votes = new Map<string, [address: Address, count: number]>();
    let failure: unknown;
    await new Promise<void>((resolve) => {
      const asked = sentinels.map(async (sentinel) => {
        try {
          const address = await this.ask(sentinel);
          const key = JSON.stringify(address);
          const [, count] = votes.get(key) ?? [address, 0];
          votes.set(key, [address, count + 1]);
          if (2 * (count + 1) > sentinels.length) resolve();
        } catch (error) {
          failure = error;
        }
      });
      void Promise.all(asked).then(() => resolve());
    });
    const [first] = [...votes.values()].toSorted(([, a], [, b]) => b - a);
    if (!first) throw failure;
    return first[0];
  }

  private async ask(sentinel: Address): Promise<Address> {
    const { name, sentinelClientOptions = {}, nodeAddressMap } = this.options;
    const place = new ServerPlace(
      sentinelClientOptions,
      mapped(nodeAddressMap, sentinel.host, sentinel.port),
    );
    const connection = new ExtraClient(place, { onError() {}, onEnded() {} }, ASK_WITHIN_MS);
    try {
      const reply = (await connection.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', name)) as Buffer[] | null;
      if (!reply) throw new Error(knowsNoMaster(sentinel, name));
      return mapped(nodeAddressMap, String(reply[0]), Number(reply[1]));
    } finally {
      connection.close();
    }
  }
}
