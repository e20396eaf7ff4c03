import type { Redis, RedisOptions } from 'ioredis';
import type { RedisFixture } from './redis-fixture.js';

let users = 0;

/** How to connect to a server of the test's own as a user with these rules of `ACL SETUSER`. */
export async function asUser(
  { server }: RedisFixture,
  admin: Redis,
  rules: readonly string[],
): Promise<RedisOptions> {
  const username = `app-${++users}`;
  await admin.call('ACL', 'SETUSER', username, 'reset', 'on', '>secret', ...rules);
  const { host, port } = server;
  // Without INFO the client would complain of its own check.
  return { host, port, username, password: 'secret', enableReadyCheck: false };
}
