import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import mongoose, { type Connection, type Model, Schema, Types } from 'mongoose';
import { readFileSync } from 'node:fs';
import { BloomModule, BloomService, objectId } from '../../../src/index.js';
import { startContext } from '../../support/nest-app.js';
import { readAll } from '../../support/read-source.js';
import { type Item, itemIds, registerItems } from './item-ids.js';

/** Nothing listens there: no MongoDB server takes part. */
const NOWHERE = 'mongodb://127.0.0.1:1/shop';

let connection: Connection;

beforeAll(() => {
  connection = mongoose.createConnection(NOWHERE, { serverSelectionTimeoutMS: 200 });
  connection.asPromise().catch(() => {});
});
afterAll(async () => {
  await connection.close();
});

const itemSchema = () => new Schema<Item>({ name: String }, { bufferTimeoutMS: 50 });

function itemModel(schema = itemSchema()): Model<Item> {
  return connection.models.Item ?? connection.model<Item>('Item', schema);
}

async function start(source?: { useFactory: () => ReturnType<typeof itemIds> }) {
  const items = { name: 'items', capacity: 100, errorRate: 1e-6, normalize: objectId };
  const context = await startContext({
    imports: [
      BloomModule.forRoot({
        onEvent: () => {},
        filters: [{ ...items, ...(source && { source, rebuild: { drainMs: 0, onBoot: 'never' as const } }) }],
      }),
    ],
  });
  return { context, filter: context.get(BloomService).filter('items') };
}

describe('the source of docs/sources.md for Mongoose', () => {
  it('is the one that is shown there', () => {
    const code = readFileSync(new URL('item-ids.ts', import.meta.url), 'utf8').split(
      'docs/sources.md.\n',
    )[1]!;
    const page = readFileSync(new URL('../../../docs/sources.md', import.meta.url), 'utf8');
    for (const block of code.trim().split('\n\n')) expect(page).toContain(block);
  });

  it('fails a rebuild that cannot ask the database, and does not take it for an empty one', async () => {
    const { context, filter } = await start({ useFactory: () => itemIds(itemModel()) });
    await expect(readAll(itemIds(itemModel()))).rejects.toThrow(/ECONNREFUSED|Server selection/);
    await expect(filter.rebuild({ force: true })).rejects.toThrow(/source-failed/);
    expect(await filter.check(new Types.ObjectId().toHexString())).toBe('unknown');
    await context.close();
  });

  it('has added the id of a document before it is sent, in every spelling that Mongoose casts', async () => {
    const { context, filter } = await start();
    const schema = itemSchema();
    registerItems(schema, filter);
    connection.deleteModel(/^Item$/);
    const items = itemModel(schema);
    const _id = new Types.ObjectId();
    expect(await filter.check(_id.toHexString())).toBe('absent');
    await expect(items.create({ _id, name: 'one' })).rejects.toThrow(/buffering timed out/);
    for (const id of [_id.toHexString(), _id.toHexString().toUpperCase(), _id.id])
      expect([id, await filter.check(id)]).toEqual([id, 'maybe']);
    await context.close();
  });
});
