import { type BloomFilter, getBloomFilterToken } from 'nestjs-bloom';
import { eventually } from '../../test/support/eventually.js';
import { forkedOptions } from '../../test/support/forked-program.js';
import { FILTER } from './filter-kinds.js';
import type { FromServerless, ServerlessCall, ServerlessOptions } from './serverless-protocol.js';
import { ShopDatabase } from './shop-database.js';
import { createShop } from './shop-instance.js';

// A process that is stopped between its calls.

/** As by default. */
const TIMEOUT_MS = 250;

const { redisUrl, capacity } = forkedOptions<ServerlessOptions>();
const app = await createShop(
  {
    redis: redisUrl,
    table: new ShopDatabase([]),
    kind: 'blocked',
    timeoutMs: TIMEOUT_MS,
    capacity,
    runtime: 'serverless',
    without: undefined,
  },
  () => {},
);
const filter = app.get<BloomFilter>(getBloomFilterToken(FILTER), { strict: false });
process.on('message', (call: ServerlessCall) => void answer(call));
tell({ type: 'ready' });

async function answer({ ids, added }: ServerlessCall): Promise<void> {
  const absent: string[] = [];
  const first = await filter.check(ids[0]!);
  if (first === 'absent') absent.push(ids[0]!);
  await eventually('the id is added', () =>
    filter.add(added).then(
      () => true,
      () => false,
    ),
  );
  for (const id of [added, ...ids])
    await eventually('the filter judges', async () => {
      const verdict = await filter.check(id);
      if (verdict === 'absent') absent.push(id);
      return verdict !== 'unknown';
    });
  tell({ type: 'answered', first, absent });
}

function tell(message: FromServerless): void {
  process.send?.(message);
}
