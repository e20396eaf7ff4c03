import type { Cluster, Redis } from 'ioredis';

/** A command that is no script. */
export type PlainCommand = readonly [name: string, key: string, ...args: (string | number)[]];

/** Sends commands in one piece. */
export async function sendTogether(
  client: Redis | Cluster,
  commands: readonly PlainCommand[],
): Promise<unknown[]> {
  const replies = await client.pipeline(commands.map((command) => [...command])).exec();
  return (replies ?? []).map(([error, value]) => {
    if (error) throw error;
    return value;
  });
}
