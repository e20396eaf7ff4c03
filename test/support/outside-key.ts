import type { Redis } from 'ioredis';

/** The key that says how far a filter has come with the rows that others write; '' where there is none. */
export async function outsideKey(client: Redis, filter: string): Promise<string> {
  const [key = ''] = await client.keys(`bloom:{${filter}}:outside:????????`);
  return key;
}
