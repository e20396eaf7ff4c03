import { Redis } from 'ioredis';

/** A client that says when it sends a script. */
export class TellingRedis extends Redis {
  onScript: ((sha1: string) => void) | undefined;

  override sendCommand(...sent: Parameters<Redis['sendCommand']>): unknown {
    const [command] = sent;
    if (command.name === 'evalsha') this.onScript?.(String(command.args[0]));
    return super.sendCommand(...sent);
  }
}
