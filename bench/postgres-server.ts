import { startPostgres as start } from '../test/support/postgres-server.js';
import type { BenchContext } from './harness.js';

/**
 * A Postgres server of our own on loopback with its default settings; its URL, or undefined where none is
 * installed.
 */
export async function startPostgres(context: BenchContext): Promise<string | undefined> {
  const server = await start({ settings: [] });
  if (server) context.cleanUp(() => server.stop());
  return server?.url;
}
