import { type Command, Redis } from 'ioredis';

/** A client of the library whose commands are handed to a gate, which alone sends them. */
export class GatedRedis extends Redis {
  constructor(private readonly hold: (command: Command) => void) {
    super({ lazyConnect: true });
  }

  override sendCommand(command: Command): unknown {
    this.hold(command);
    return command.promise;
  }

  /** What the client says when its connection to the server ended. */
  loseConnection(): void {
    this.emit('close');
  }
}
