import { Command, Redis } from 'ioredis';

/** Takes a command of a client. */
export type HoldCommand = (command: Command, client: GatedRedis, isAnswered: boolean) => void;

/** A client of the library whose commands are handed to a gate, which alone sends them. */
export class GatedRedis extends Redis {
  /** Clients that the library has made of this one. */
  readonly duplicates: GatedRedis[] = [];
  /** That it has subscribed to. */
  readonly channels = new Set<string>();

  constructor(private readonly hold: HoldCommand) {
    super({ lazyConnect: true });
    this.stream = {
      writable: true,
      writableNeedDrain: false,
      write: (bytes: string) => this.holdWritten(bytes),
      prependListener() {},
    } as never;
  }

  override sendCommand(command: Command): unknown {
    // This has no consequence here, where a server keeps each script.
    if (command.name === 'script') command.resolve('loaded');
    else this.hold(command, this, true);
    return command.promise;
  }

  /** What is written past the client is on a connection without replies. */
  private holdWritten(bytes: string): void {
    const [name, ...args] = bytes.split('\r\n').filter((_, i) => i > 0 && i % 2 === 0);
    const command = new Command(name!.toLowerCase(), args);
    void command.promise.catch(() => {});
    if (name !== 'CLIENT') this.hold(command, this, false);
  }

  /** There is nothing to connect to. */
  override async connect(): Promise<void> {}

  /** Typed so because the types of the client are those of its replies, which a gate does not change. */
  override duplicate(): never {
    const duplicate = new GatedRedis(this.hold);
    duplicate.status = 'ready';
    this.duplicates.push(duplicate);
    return duplicate as never;
  }

  override disconnect(): void {
    this.status = 'end';
    this.channels.clear();
    this.emit('end');
  }

  /** What the client says when its connection to the server ended. */
  loseConnection(): void {
    this.channels.clear();
    this.emit('close');
  }
}
