import { type Command, Redis } from 'ioredis';

/** Takes a command of a client. */
export type HoldCommand = (command: Command, client: GatedRedis) => void;

/** A client of the library whose commands are handed to a gate, which alone sends them. */
export class GatedRedis extends Redis {
  /** Clients that the library has made of this one. */
  readonly duplicates: GatedRedis[] = [];
  /** That it has subscribed to. */
  readonly channels = new Set<string>();

  constructor(private readonly hold: HoldCommand) {
    super({ lazyConnect: true });
  }

  override sendCommand(command: Command): unknown {
    this.hold(command, this);
    return command.promise;
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
