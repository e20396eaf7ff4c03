import { createServer } from 'node:net';

const [FIRST, COUNT] = [10_000, 10_000];
const ATTEMPTS = 100;

/**
 * A port of 127.0.0.1 that is free, below those that systems give to outgoing connections: none of these
 * takes it before a server listens, or while the server is down. Those of `startRedis` lie in between.
 */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const port = FIRST + Math.floor(Math.random() * COUNT);
    if (await isFree(port)) return port;
  }
  throw new Error(`Expected a free port from ${FIRST} on, found none in ${ATTEMPTS} attempts.`);
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
