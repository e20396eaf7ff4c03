import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Address } from './tcp-proxy.js';

/** Without a byte of a server for so long, no reply is on its way. */
const QUIET_MS = 50;

/** A proxy that can put another server behind connections that stay open, as one that understands Redis may do. */
export class SwappingProxy {
  private readonly upstreams = new Map<Socket, Socket>();
  private repliedAt = 0;

  private constructor(
    private readonly server: Server,
    private target: Address,
  ) {
    server.on('connection', (client) => {
      this.lead(client);
      client.on('data', (chunk) => this.upstreams.get(client)?.write(chunk));
      client.on('error', () => {});
      client.on('close', () => {
        this.upstreams.get(client)?.destroy();
        this.upstreams.delete(client);
      });
    });
  }

  static async open(target: Address): Promise<SwappingProxy> {
    const server = createServer({ noDelay: true }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new SwappingProxy(server, target);
  }

  get url(): string {
    return `redis://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Call it while no reply is on its way. */
  swap(target: Address): void {
    this.target = target;
    for (const [client, upstream] of this.upstreams) {
      upstream.removeAllListeners('data').removeAllListeners('close').destroy();
      this.lead(client);
    }
  }

  /** Passes on no command until all replies have arrived, so that none is lost under traffic. */
  async swapBetweenReplies(target: Address): Promise<void> {
    for (const client of this.upstreams.keys()) client.pause();
    this.repliedAt = performance.now();
    while (performance.now() - this.repliedAt < QUIET_MS) await delay(5);
    this.swap(target);
    for (const client of this.upstreams.keys()) client.resume();
  }

  async close(): Promise<void> {
    for (const client of this.upstreams.keys()) client.destroy();
    this.server.close();
    await once(this.server, 'close');
  }

  private lead(client: Socket): void {
    const upstream = connect({ host: this.target.host, port: this.target.port, noDelay: true });
    upstream.on('data', (chunk) => {
      this.repliedAt = performance.now();
      client.write(chunk);
    });
    upstream.on('error', () => {});
    upstream.on('close', () => client.destroy());
    this.upstreams.set(client, upstream);
  }
}
