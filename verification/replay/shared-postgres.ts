import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { PGlite } from '@electric-sql/pglite';

export interface SharedPostgres {
  readonly url: string;
  stop(): Promise<void>;
}

const HOST = '127.0.0.1';
const SSL_REQUEST = 80_877_103;
const NO_SSL = Buffer.from('N');
/** AuthenticationOk, then ReadyForQuery: idle. */
const WELCOME = Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 0, 0x5a, 0, 0, 0, 5, 0x49]);

/**
 * Embedded Postgres that several processes connect to, on a free port of 127.0.0.1. It has a single session,
 * so a connection has it to itself from a statement's first message to its Sync, and for the whole of a
 * transaction (the socket server that comes with PGlite mixes the messages of statements).
 */
export async function startSharedPostgres(): Promise<SharedPostgres> {
  const database = await PGlite.create();
  const turns = new Turns();
  const sockets = new Set<Socket>();
  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    new Connection(socket, database, turns).serve().catch(() => socket.destroy());
  });
  server.listen(0, HOST);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { url: `postgres://postgres@${HOST}:${port}/postgres`, stop: () => stop(server, sockets, database) };
}

async function stop(server: Server, sockets: Iterable<Socket>, database: PGlite): Promise<void> {
  for (const socket of sockets) socket.destroy();
  server.close();
  await once(server, 'close');
  await database.close();
}

/** One connection at a time, in the order in which they asked. */
class Turns {
  private last = Promise.resolve();

  async take(): Promise<() => void> {
    const before = this.last;
    let end!: () => void;
    this.last = new Promise((resolve) => (end = resolve));
    await before;
    return end;
  }
}

class Connection {
  private bytes = Buffer.alloc(0);
  private endTurn: (() => void) | undefined;

  constructor(
    private readonly socket: Socket,
    private readonly database: PGlite,
    private readonly turns: Turns,
  ) {}

  async serve(): Promise<void> {
    let isStarted = false;
    try {
      for await (const chunk of this.socket) {
        this.bytes = Buffer.concat([this.bytes, chunk as Buffer]);
        if (!isStarted) isStarted = this.start();
        if (isStarted) await this.answer();
      }
    } finally {
      if (this.endTurn) await this.database.exec('rollback');
      this.endTurn?.();
    }
  }

  /** The first messages of a connection have no type. */
  private start(): boolean {
    for (let message = this.take(0); message; message = this.take(0)) {
      if (message.readUInt32BE(4) !== SSL_REQUEST) return this.socket.write(WELCOME) || true;
      this.socket.write(NO_SSL);
    }
    return false;
  }

  private async answer(): Promise<void> {
    for (let message = this.take(1); message; message = this.take(1)) {
      const type = String.fromCharCode(message[0]!);
      if (type === 'X') return;
      this.endTurn ??= await this.turns.take();
      const reply = Buffer.from(await this.database.execProtocolRaw(message));
      this.socket.write(reply);
      // ReadyForQuery ends with the state of the transaction.
      const isIdle =
        reply.subarray(-6, -1).equals(WELCOME.subarray(-6, -1)) && reply.at(-1) === WELCOME.at(-1);
      if (isIdle) {
        this.endTurn();
        this.endTurn = undefined;
      }
    }
  }

  /** The next whole message: `lengthAt` bytes of type, then its length without the type. */
  private take(lengthAt: 0 | 1): Buffer | undefined {
    if (this.bytes.length < lengthAt + 4) return undefined;
    const end = lengthAt + this.bytes.readUInt32BE(lengthAt);
    if (this.bytes.length < end) return undefined;
    const message = this.bytes.subarray(0, end);
    this.bytes = this.bytes.subarray(end);
    return message;
  }
}
