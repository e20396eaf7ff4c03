import 'reflect-metadata';
import { Test } from '@nestjs/testing';
import knex from 'knex';
import { type BloomEvent, BloomModule, BloomService } from 'nestjs-bloom';
import { fromKnex } from '@nestjs-bloom/knex';
import { forkedOptions } from '../../test/support/forked-program.js';
import { answerRequests } from './answered-requests.js';
import { type MemoryOptions, type MemoryReply, type MemoryRequest, NOTHING } from './instance-protocol.js';

const REBUILD_EVERY_MS = 5000;
const OVERLAP_MS = 500;

const { databaseUrl, isQuiet = false } = forkedOptions<MemoryOptions>();
const database = knex({ client: 'pg', connection: databaseUrl, pool: { min: 0, max: 8 } });
const rebuilds = { finished: 0 };
const app = await Test.createTestingModule({
  imports: [
    BloomModule.forRoot({ onEvent }),
    BloomModule.forFeature([
      {
        name: 'products',
        source: fromKnex(database, 'products', 'id'),
        rebuild: { everyMs: REBUILD_EVERY_MS, drainMs: OVERLAP_MS },
        topUp: { everyMs: 50 },
      },
    ]),
  ],
}).compile();
app.useLogger(false);
await app.init();
const filter = app.get(BloomService).filter('products');

answerRequests(handle);

function onEvent(event: BloomEvent): void {
  if (event.type === 'rebuild-finished') rebuilds.finished++;
  if (event.type === 'top-up-failed' && !isQuiet)
    process.stderr.write(`${event.type}: ${String(event.error)}\n`);
}

async function handle(request: MemoryRequest): Promise<MemoryReply> {
  switch (request.type) {
    case 'create':
      return create(request.openMs);
    case 'lookup':
      return lookUp(request.ids, request.others);
    case 'add':
      return {
        ...NOTHING,
        refused: await filter.add(request.id).then(
          () => 0,
          () => 1,
        ),
      };
    case 'clock': {
      const { now } = Date;
      Date.now = () => now() + request.byMs;
      return NOTHING;
    }
    case 'stop':
      await app.close();
      await database.destroy();
      return { ...NOTHING, rebuilds: rebuilds.finished };
  }
}

/** Nobody adds the id. Another one is taken before it, and is of no row. */
async function create(openMs: number): Promise<MemoryReply> {
  const [none, id] = await database.transaction(async (transaction) => {
    const taken = await transaction.raw(`select nextval('products_id_seq') as id`);
    const { rows } = await transaction.raw('insert into products default values returning id');
    await new Promise((resolve) => setTimeout(resolve, openMs));
    return [taken.rows[0].id, rows[0].id].map(Number);
  });
  return { ...NOTHING, created: 1, ids: [id!, none!] };
}

async function lookUp(ids: readonly number[], ofNoRow: readonly number[]): Promise<MemoryReply> {
  const found = await filter.checkMany(ids);
  const others = await filter.checkMany(ofNoRow);
  const count = (verdicts: readonly string[], one: string) => verdicts.filter((is) => is === one).length;
  return {
    ...NOTHING,
    lookups: ids.length,
    ids: ids.filter((_, i) => found[i] === 'absent'),
    wrongAbsent: count(found, 'absent'),
    unknown: count(found, 'unknown'),
    falsePositives: count(others, 'maybe'),
    denied: count(others, 'absent'),
  };
}
