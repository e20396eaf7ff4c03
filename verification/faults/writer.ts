import { forkedOptions } from '../../test/support/forked-program.js';
import type { WriterOptions } from './writer-protocol.js';
import { WrittenShop } from './written-shop.js';

// A process that writes a row with TypeORM and is killed at a point of that.

const { redisUrl, databaseUrl, name, at } = forkedOptions<WriterOptions>();
const die = () => process.kill(process.pid, 'SIGKILL');

const shop = await WrittenShop.start({
  redisUrl,
  databaseUrl,
  onQuery: (query) => {
    if (at === 'add' && query.startsWith('INSERT INTO "kinds"')) die();
    if (at === 'insert' && query === 'COMMIT') die();
  },
  subscriber: { afterTransactionCommit: () => void (at === 'commit' && die()) },
});
await shop.writeSlowly(name, async () => {});
await shop.close();
