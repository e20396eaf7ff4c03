import { createClient } from 'redis';
import type { ClientOptions, NodeRedis, Place, SocketOptions } from './connection.js';

export interface Address {
  readonly host: string;
  readonly port: number;
}

/** Where a Cluster or Sentinel finds a server that others know by `host:port`. */
export type AddressMap =
  Readonly<Record<string, Address>> | ((address: string) => Address | undefined) | undefined;

/** The server of a client. */
export class ClientPlace implements Place {
  readonly socket: SocketOptions;

  constructor(private readonly client: NodeRedis) {
    this.socket = client.options?.socket ?? {};
  }

  newClient(options: object): NodeRedis {
    return this.client.duplicate(options);
  }
}

/** A server by its options. */
export class ServerPlace implements Place {
  readonly socket: SocketOptions;

  /** @param address in place of the one in the options. */
  constructor(
    private readonly options: ClientOptions,
    address?: Address,
  ) {
    this.socket = { ...options.socket, ...address };
  }

  newClient(options: object): NodeRedis {
    return createClient({ ...this.options, ...options } as object) as unknown as NodeRedis;
  }
}

export function mapped(map: AddressMap, host: string, port: number): Address {
  const address = `${host}:${port}`;
  return (typeof map === 'function' ? map(address) : map?.[address]) ?? { host, port };
}
