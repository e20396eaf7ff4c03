import { Cluster, Redis } from 'ioredis';
import { eventually } from './eventually.js';
import { type RedisServer, startRedis } from './redis-server.js';
import { type Address, TcpProxy } from './tcp-proxy.js';

const SLOTS = 16_384;
/** Offset of the port of the bus, by which the nodes of a cluster know each other. */
const BUS = 10_000;
/** Nobody but a test decides that a node has failed. */
const NODE_TIMEOUT_MS = 60_000;

/** One server of a cluster. */
export interface ClusterNode {
  readonly server: RedisServer;
  readonly admin: Redis;
  /** The address that the other nodes know: its replica reads through it. */
  readonly link: TcpProxy;
  id: string;
}

/** Three masters and a replica of each, of our own, on 127.0.0.1. */
export class RedisCluster {
  private readonly clients: Cluster[] = [];

  private constructor(
    readonly masters: readonly ClusterNode[],
    readonly replicas: readonly ClusterNode[],
  ) {}

  static async start(masters = 3): Promise<RedisCluster> {
    const all = await Promise.all(Array.from({ length: 2 * masters }, startNode));
    const cluster = new RedisCluster(all.slice(0, masters), all.slice(masters));
    await cluster.form();
    return cluster;
  }

  get nodes(): readonly ClusterNode[] {
    return [...this.masters, ...this.replicas];
  }

  /**
   * A client of the cluster, closed with it.
   *
   * @param doors proxies in the place of nodes, in the order of `nodes`; without one a client reaches the
   * server straight.
   */
  client(doors: readonly (TcpProxy | undefined)[] = []): Cluster {
    const natMap = this.natMap(doors);
    const client = new Cluster(this.roots(doors), {
      natMap,
      clusterRetryStrategy: () => 50,
      slotsRefreshInterval: 500,
      redisOptions: { connectTimeout: 500 },
    });
    client.on('error', () => {});
    this.clients.push(client);
    return client;
  }

  /** Where a client begins. */
  roots(doors: readonly (TcpProxy | undefined)[] = []): Address[] {
    return this.masters.map(({ server: { host, port } }, i) => ({ host, port: doors[i]?.port ?? port }));
  }

  /** Where the addresses are that the nodes know of each other. */
  natMap(doors: readonly (TcpProxy | undefined)[] = []): Record<string, Address> {
    const entries = this.nodes.map(({ link, server: { host, port } }, i) => [
      `${host}:${link.port}`,
      { host, port: doors[i]?.port ?? port },
    ]);
    return Object.fromEntries(entries) as Record<string, Address>;
  }

  /** The master that serves a slot now, as the others see it. */
  async masterOf(slot: number, asked: ClusterNode): Promise<ClusterNode> {
    const ranges = (await asked.admin.call('CLUSTER', 'SLOTS')) as [
      number,
      number,
      [string, number, string],
    ][];
    const found = ranges.find(([from, to]) => from <= slot && slot <= to);
    return this.nodes.find(({ id }) => id === found?.[2][2])!;
  }

  /** Makes a replica the master of its slots, whether its master agrees or not. */
  async promote(index: number): Promise<void> {
    const { admin } = this.replicas[index]!;
    await admin.call('CLUSTER', 'FAILOVER', 'TAKEOVER');
    await eventually('the replica has taken over', async () =>
      (await admin.info('replication')).includes('role:master'),
    );
  }

  /** Moves a slot with its keys from one master to another, while clients go on. */
  async move(slot: number, from: ClusterNode, to: ClusterNode): Promise<void> {
    const at = String(slot);
    // Else the one that takes the slot may give itself an epoch of the other, and lose the slot to it again.
    await eventually('both know of one epoch', async () => {
      const [first, second] = await Promise.all([from, to].map(currentEpoch));
      return first === second;
    });
    await to.admin.call('CLUSTER', 'SETSLOT', at, 'IMPORTING', from.id);
    await from.admin.call('CLUSTER', 'SETSLOT', at, 'MIGRATING', to.id);
    for (;;) {
      const keys = (await from.admin.call('CLUSTER', 'GETKEYSINSLOT', at, '10')) as string[];
      if (keys.length === 0) break;
      const { host, port } = to.server;
      await from.admin.call('MIGRATE', host, String(port), '', '0', '5000', 'REPLACE', 'KEYS', ...keys);
    }
    for (const { admin } of [to, from]) await admin.call('CLUSTER', 'SETSLOT', at, 'NODE', to.id);
  }

  async stop(): Promise<void> {
    for (const client of this.clients) client.disconnect();
    for (const { admin } of this.nodes) admin.disconnect();
    // The servers first, which connect to each other again and again.
    await Promise.all(this.nodes.map(({ server }) => server.stop()));
    await Promise.all(this.nodes.map(({ link }) => link.close()));
  }

  private async form(): Promise<void> {
    const first = this.masters[0]!;
    for (const [i, { admin }] of this.masters.entries()) {
      const { length } = this.masters;
      const range = [Math.ceil((SLOTS / length) * i), Math.ceil((SLOTS / length) * (i + 1)) - 1];
      await admin.call('CLUSTER', 'ADDSLOTSRANGE', ...range.map(String));
    }
    for (const { server } of this.nodes.slice(1)) {
      const { host, port } = server;
      await first.admin.call('CLUSTER', 'MEET', host, String(port), String(port + BUS));
    }
    for (const node of this.nodes) node.id = String(await node.admin.call('CLUSTER', 'MYID'));
    await this.untilAll('know each other', (info) =>
      info.includes(`cluster_known_nodes:${this.nodes.length}`),
    );
    for (const [i, { admin }] of this.replicas.entries()) {
      await admin.call('CLUSTER', 'REPLICATE', this.masters[i]!.id);
    }
    await this.untilAll('serve', (info) => info.includes('cluster_state:ok'));
    for (const { admin } of this.replicas) {
      await eventually('the replica follows', async () =>
        (await admin.info('replication')).includes('master_link_status:up'),
      );
    }
    for (const { admin } of this.nodes) {
      await eventually('every node knows the replicas', async () => {
        const nodes = String(await admin.call('CLUSTER', 'NODES'));
        return nodes.split('\n').filter((line) => line.includes('slave')).length === this.replicas.length;
      });
    }
  }

  private async untilAll(what: string, holds: (info: string) => boolean): Promise<void> {
    for (const { admin } of this.nodes) {
      await eventually(`the nodes ${what}`, async () => holds(String(await admin.cluster('INFO'))));
    }
  }
}

async function startNode(): Promise<ClusterNode> {
  const target = { host: '127.0.0.1', port: 1 };
  const link = await TcpProxy.open(target);
  const server = await startRedis({ args: clusterArguments(link.port) });
  link.target = server;
  // Nodes must meet at the bus of the server itself: only the port of clients leads through the proxy.
  const admin = new Redis({ host: server.host, port: server.port, retryStrategy: () => 50 });
  admin.on('error', () => {});
  await admin.config('SET', 'cluster-announce-bus-port', String(server.port + BUS));
  return { server, admin, link, id: '' };
}

function clusterArguments(port: number): string[] {
  const cluster = `--cluster-enabled yes --cluster-node-timeout ${NODE_TIMEOUT_MS}`;
  const announced = `--cluster-announce-ip 127.0.0.1 --cluster-announce-port ${port}`;
  // A node that is down leaves the slots of the others in service.
  const rest = '--cluster-require-full-coverage no --repl-diskless-sync-delay 0';
  return `${cluster} ${announced} ${rest}`.split(' ');
}

async function currentEpoch({ admin }: ClusterNode): Promise<string | undefined> {
  return /cluster_current_epoch:(\d+)/.exec(String(await admin.call('CLUSTER', 'INFO')))?.[1];
}
