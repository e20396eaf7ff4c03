import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import type { Address } from './tcp-proxy.js';

/** A proxy that can put another server behind connections that stay open, as one that understands Redis may do. */
export class SwappingProxy {
  private readonly upstreams = new Map<Socket, Socket>();

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

  async close(): Promise<void> {
    for (const client of this.upstreams.keys()) client.destroy();
    this.server.close();
    await once(this.server, 'close');
  }

  private lead(client: Socket): void {
    const upstream = connect({ host: this.target.host, port: this.target.port, noDelay: true });
    upstream.on('data', (chunk) => client.write(chunk));
    upstream.on('error', () => {});
    upstream.on('close', () => client.destroy());
    this.upstreams.set(client, upstream);
  }
}
