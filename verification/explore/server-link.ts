import { Command, Redis } from 'ioredis';

export interface RawCommand {
  readonly name: string;
  readonly args: readonly (string | number | Buffer)[];
}

/** What the types of ioredis leave out. */
interface Pipeline {
  sendCommand(command: Command): void;
  exec(): Promise<[error: Error | null, value: unknown][]>;
}

export type Reply = { readonly value: unknown } | { readonly error: Error };

/** The one real connection: carries the commands that schedules let through, those of one round together. */
export class ServerLink {
  private readonly redis: Redis;

  constructor(url: string) {
    this.redis = new Redis(url);
  }

  async send(commands: readonly RawCommand[]): Promise<Reply[]> {
    if (commands.length === 0) return [];
    const pipeline = this.redis.pipeline() as unknown as Pipeline;
    // Without an encoding replies stay buffers, for the command that waits to convert.
    for (const { name, args } of commands) pipeline.sendCommand(new Command(name, [...args]));
    const replies = await pipeline.exec();
    return replies.map(([error, value]) => (error ? { error } : { value }));
  }

  async load(script: string): Promise<void> {
    await this.redis.script('LOAD', script);
  }

  close(): void {
    this.redis.disconnect();
  }
}
