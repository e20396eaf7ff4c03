import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import type { Address } from './tcp-proxy.js';

/** Without a byte of a server for so long, no reply is on its way, where the server refuses to say so. */
const QUIET_MS = 5000;

/**
 * A proxy that can put another server behind connections that stay open, as one that understands Redis may
 * do.
 */
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

  /** Passes on no command until all replies have arrived, so that none is lost under traffic. */
  async swapBetweenReplies(target: Address): Promise<void> {
    for (const client of this.upstreams.keys()) client.pause();
    await Promise.all([...this.upstreams].map(([client, upstream]) => allReplies(client, upstream)));
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
      client.write(chunk);
    });
    upstream.on('error', () => {});
    upstream.on('close', () => client.destroy());
    this.upstreams.set(client, upstream);
  }
}

/** Passes replies on until that of a command of its own arrives, which is the last one. */
function allReplies(client: Socket, upstream: Socket): Promise<void> {
  const marker = `last-reply-${Math.random()}`;
  const last = `$${marker.length}\r\n${marker}\r\n`;
  return new Promise((resolve) => {
    let kept = '';
    const end = () => {
      clearTimeout(timer);
      client.write(kept, 'latin1');
      resolve();
    };
    const timer = setTimeout(end, QUIET_MS);
    upstream.removeAllListeners('data');
    upstream.once('close', end);
    upstream.on('data', (chunk) => {
      timer.refresh();
      kept += chunk.toString('latin1');
      const isLast = kept.endsWith(last);
      // What may be the beginning of the reply stays here.
      const passed = kept.slice(0, isLast ? -last.length : Math.max(0, kept.length - last.length));
      kept = isLast ? '' : kept.slice(passed.length);
      client.write(passed, 'latin1');
      if (isLast) end();
    });
    upstream.write(`*2\r\n$4\r\nECHO\r\n${last}`);
  });
}
