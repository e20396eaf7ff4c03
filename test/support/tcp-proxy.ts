import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

export interface Address {
  readonly host: string;
  readonly port: number;
}

const HOST = '127.0.0.1';
/** Time for a client to read the first bytes of a reply before the connection is reset. */
const RESET_AFTER_MS = 3;

/** A door before a server that can be slowed, held shut, cut and broken, for all that goes through it. */
export class TcpProxy {
  /** Time that bytes take longer, half of it each way. */
  delayMs = 0;
  /** So many replies of a connection pass whole; the next one ends after a few bytes, with a reset. */
  repliesUntilReset = Infinity;

  private readonly passages = new Set<Passage>();
  private isHeld = false;
  private repliesHeld = false;
  private heldTexts: readonly string[] = [];
  private isCut = false;

  private constructor(
    private readonly server: Server,
    /** Where new connections lead. */
    public target: Address,
  ) {
    server.on('connection', (client) => this.admit(client));
  }

  static async open(target: Address): Promise<TcpProxy> {
    const server = createServer({ noDelay: true });
    await new Promise<void>((resolve) => server.listen(0, HOST, resolve));
    return new TcpProxy(server, target);
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  get url(): string {
    return `redis://${HOST}:${this.port}`;
  }

  get held(): boolean {
    return this.isHeld;
  }

  /** A black hole: connections stay, and nothing comes through in either direction. */
  hold(): void {
    this.isHeld = true;
  }

  /** The same for those connections alone on which one of these texts is sent. */
  holdOnly(...texts: readonly string[]): void {
    this.heldTexts = texts;
  }

  isTextHeld(text: string): boolean {
    return this.heldTexts.some((held) => text.includes(held));
  }

  /** Requests go through, and no reply comes back. */
  holdReplies(): void {
    this.repliesHeld = true;
  }

  holdsReplies(): boolean {
    return this.isHeld || this.repliesHeld;
  }

  /** What was held arrives now, as after a network that was split. */
  release(): void {
    this.isHeld = false;
    this.repliesHeld = false;
    this.heldTexts = [];
    for (const passage of this.passages) passage.flow();
  }

  /** Ends every connection, and every new one at once. */
  cut(): void {
    this.isCut = true;
    this.disconnect();
  }

  mend(): void {
    this.isCut = false;
  }

  disconnect(): void {
    for (const passage of this.passages) passage.end();
  }

  async close(): Promise<void> {
    this.disconnect();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private admit(client: Socket): void {
    if (this.isCut) {
      client.resetAndDestroy();
      return;
    }
    const passage = new Passage(this, client, connect({ ...this.target, noDelay: true }), () =>
      this.passages.delete(passage),
    );
    this.passages.add(passage);
  }
}

/** One connection of a client, and the one to the server that belongs to it. */
class Passage {
  private readonly requests: Stream;
  private readonly replies: Stream;
  private replied = 0;
  /** What was asked last. */
  private asked = '';

  constructor(
    private readonly proxy: TcpProxy,
    private readonly client: Socket,
    private readonly upstream: Socket,
    private readonly onEnd: () => void,
  ) {
    const finish = () => this.end();
    this.requests = new Stream({
      proxy,
      isHeld: () => proxy.held || proxy.isTextHeld(this.asked),
      write: (chunk) => upstream.write(chunk),
      finish,
    });
    this.replies = new Stream({
      proxy,
      isHeld: () => proxy.holdsReplies() || proxy.isTextHeld(this.asked),
      write: (chunk) => this.reply(chunk),
      finish,
    });
    client.on('data', (chunk) => {
      this.asked = chunk.toString('latin1', 0, 64);
      this.requests.push(chunk);
    });
    upstream.on('data', (chunk) => this.replies.push(chunk));
    for (const [socket, stream] of [
      [client, this.requests],
      [upstream, this.replies],
    ] as const) {
      socket.on('error', () => {});
      socket.on('close', () => stream.push(undefined));
    }
  }

  flow(): void {
    this.requests.flow();
    this.replies.flow();
  }

  end(): void {
    this.client.destroy();
    this.upstream.destroy();
    this.requests.close();
    this.replies.close();
    this.onEnd();
  }

  private reply(chunk: Buffer): void {
    if (this.replied++ < this.proxy.repliesUntilReset) {
      this.client.write(chunk);
      return;
    }
    this.replies.close();
    this.client.write(chunk.subarray(0, Math.ceil(chunk.length / 2)));
    setTimeout(() => {
      this.client.resetAndDestroy();
      this.end();
    }, RESET_AFTER_MS);
  }
}

/** Bytes in one direction, in order; `undefined` is their end. */
class Stream {
  private readonly waiting: { chunk: Buffer | undefined; at: number }[] = [];
  private timer: NodeJS.Timeout | undefined;
  private isClosed = false;

  constructor(
    private readonly options: {
      readonly proxy: TcpProxy;
      readonly isHeld: () => boolean;
      readonly write: (chunk: Buffer) => void;
      readonly finish: () => void;
    },
  ) {}

  push(chunk: Buffer | undefined): void {
    if (this.isClosed) return;
    this.waiting.push({ chunk, at: performance.now() + this.options.proxy.delayMs / 2 });
    this.flow();
  }

  flow(): void {
    const { isHeld, write, finish } = this.options;
    while (!this.isClosed && !isHeld() && this.waiting.length > 0) {
      const { chunk, at } = this.waiting[0]!;
      const waitMs = at - performance.now();
      if (waitMs > 0) {
        this.timer ??= setTimeout(() => {
          this.timer = undefined;
          this.flow();
        }, waitMs);
        return;
      }
      this.waiting.shift();
      if (chunk) write(chunk);
      else finish();
    }
  }

  close(): void {
    this.isClosed = true;
    clearTimeout(this.timer);
  }
}
