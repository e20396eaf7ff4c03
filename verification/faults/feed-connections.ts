import type { Redis } from 'ioredis';

/** Ends the connections over which processes hear of entries. */
export async function killFeeds(admin: Redis): Promise<void> {
  for (const line of String(await admin.client('LIST')).split('\n')) {
    const id = / cmd=(xread|subscribe) /.test(line) && /\bid=(\d+)/.exec(line)?.[1];
    if (id) await admin.client('KILL', 'ID', Number(id));
  }
}
