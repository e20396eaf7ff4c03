import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { INestApplicationContext } from '@nestjs/common';
import mongoose, { type Connection, Schema, Types } from 'mongoose';
import { BloomConfigError, BloomGuardRunner, BloomModule, BloomService } from 'nestjs-bloom';
import { bloomMongoosePlugin, fromMongoose } from '../src/index.js';
import { startContext } from '../../../test/support/nest-app.js';
import { connect, connectNowhere, describeOnServer, type Item, itemModel, itemSchema } from './items.js';

let context: INestApplicationContext | undefined;
afterEach(async () => {
  await context?.close();
  context = undefined;
});

/** A model whose `_id` and `sku` are recorded in filters `ids` and `skus`, which hold no document yet. */
async function start(connection: Connection, schema = itemSchema()) {
  const model = itemModel(connection);
  const filter = (name: string, path: '_id' | 'sku') => ({
    name,
    capacity: 1000,
    // A database that cannot be reached shows no order.
    coverage: 'none' as const,
    errorRate: 1e-6,
    source: {
      useFactory: () => ({ ...fromMongoose(model, path).useFactory(), ids: async function* () {} }),
    },
    rebuild: { drainMs: 0, onBoot: 'never' as const },
  });
  context = await startContext({
    imports: [
      BloomModule.forRoot({ onEvent: () => {}, filters: [filter('ids', '_id'), filter('skus', 'sku')] }),
    ],
  });
  const runner = context.get(BloomGuardRunner, { strict: false });
  schema.plugin(bloomMongoosePlugin, { runner, path: '_id', filter: 'ids' });
  schema.plugin(bloomMongoosePlugin, { runner, path: 'sku', filter: 'skus' });
  const service = context.get(BloomService);
  for (const name of ['ids', 'skus']) await service.filter(name).rebuild({ force: true });
  return {
    items: itemModel(connection, schema),
    ids: service.filter('ids'),
    skus: service.filter('skus'),
    runner,
  };
}

describe('bloomMongoosePlugin', () => {
  let connection: Connection;
  beforeAll(() => void (connection = connectNowhere()));
  afterAll(() => connection.close());

  it('has added the ids of documents before they are sent, whichever way they are written', async () => {
    const { items, ids, skus } = await start(connection);
    const _id = new Types.ObjectId();
    const writes: [string, () => Promise<unknown>][] = [
      ['create', () => items.create({ _id, sku: 'create' })],
      ['insertOne', () => items.insertOne({ sku: 'insertOne' })],
      ['insertMany', () => items.insertMany([{ sku: 'insertMany' }, { sku: null }])],
      ['bulkSave', () => items.bulkSave([new items({ sku: 'bulkSave' })])],
      ['bulk 1', () => items.bulkWrite([{ insertOne: { document: { sku: 'bulk 1' } as Item } }])],
      [
        'bulk 2',
        () => items.bulkWrite([{ updateOne: { filter: { name: 'x' }, update: { sku: 'bulk 2' } } }]),
      ],
      [
        'bulk 3',
        () =>
          items.bulkWrite([
            { replaceOne: { filter: { name: 'x' }, replacement: { name: 'x', sku: 'bulk 3' } } },
          ]),
      ],
      ['updateOne', () => items.updateOne({ name: 'x' }, { sku: 'updateOne' })],
      ['updateMany', () => items.updateMany({}, { $setOnInsert: { sku: 'updateMany' } }, { upsert: true })],
      [
        'upsert',
        () => items.updateOne({ $and: [{ sku: { $eq: 'upsert' } }] }, { name: 'x' }, { upsert: true }),
      ],
      ['found', () => items.findOneAndUpdate({ sku: 'found' }, { name: 'x' }, { upsert: true })],
      ['replaced', () => items.findOneAndReplace({ name: 'x' }, { name: 'x', sku: 'replaced' })],
      ['replaceOne', () => items.replaceOne({ name: 'x' }, { name: 'x', sku: 'replaceOne' })],
      [
        'piped',
        () =>
          items.updateOne({ name: 'x' }, [{ $set: { sku: 'piped' } }], { updatePipeline: true } as object),
      ],
    ];
    for (const [sku, write] of writes) {
      expect([sku, await skus.check(sku)]).toEqual([sku, 'absent']);
      await expect(write()).rejects.toThrow(/buffering timed out/);
      expect([sku, await skus.check(sku)]).toEqual([sku, 'maybe']);
    }
    for (const id of [_id.toHexString(), _id.id]) expect(await ids.check(id)).toBe('maybe');
  });

  it('sends nothing whose id cannot be recorded or cannot be known, and says what to write', async () => {
    const { items } = await start(connection);
    for (const write of [
      () => items.collection.insertOne({ name: 'x' } as never),
      () => items.updateOne({}, { $rename: { name: 'sku' } }),
      () => items.updateOne({}, { $min: { sku: 'a' } } as never),
      () => items.updateOne({}, [{ $set: { sku: '$name' } }], { updatePipeline: true } as object),
      () => items.updateOne({}, [{ $replaceWith: { name: 'x' } }], { updatePipeline: true } as object),
    ]) {
      await expect(write()).rejects.toThrow(
        /^bloomMongoosePlugin cannot record the id of a document in filter '(ids|skus)'/,
      );
    }
    await expect(items.create({ sku: 'x'.repeat(2000) })).rejects.toThrow(/1024/);
    await expect(items.updateOne({}, { sku: '' })).rejects.toThrow(/Expected an id/);
  });

  it('adds the ids of a transaction once more when it has been committed, and not of one that was aborted', async () => {
    const { items, skus, runner } = await start(connection);
    const client = new mongoose.mongo.MongoClient('mongodb://127.0.0.1:1', { serverSelectionTimeoutMS: 50 });
    const again: unknown[] = [];
    const registerFailed = runner.registrar.registerFailed.bind(runner.registrar);
    runner.registrar.registerFailed = async (registration) => {
      again.push(registration.keys);
      await registerFailed(registration);
    };
    const session = client.startSession();
    // What is written is answered here: the session is the driver's own.
    const answer = async () => ({ acknowledged: true });
    const schema = itemSchema();
    const model = itemModel(connection, schema);
    const { collection } = model;
    for (const name of ['insertOne', 'updateOne']) Reflect.set(collection, name, answer);
    schema.plugin(bloomMongoosePlugin, { runner, path: 'sku', filter: 'skus' });
    await model.init().catch(() => {});
    session.startTransaction();
    await collection.insertOne({ sku: 'kept' } as never, { session });
    await skus.rebuild({ force: true });
    expect(await skus.check('kept')).toBe('absent');
    await session.commitTransaction();
    expect(await skus.check('kept')).toBe('maybe');
    session.startTransaction();
    await collection.updateOne({}, { $set: { sku: 'dropped' } }, { session });
    await session.abortTransaction();
    expect(again).toEqual([['kept']]);
    await client.close();
    expect(items.modelName).toBe('Item');
  });

  it('refuses options that cannot work, and a model that has no such path', async () => {
    const { runner } = await start(connection);
    const plugged = (options: object) => () => itemSchema().plugin(bloomMongoosePlugin, options as never);
    expect(plugged({ runner, filter: 'ids' })).toThrow(
      /expected the option path to be a text, got undefined/,
    );
    expect(plugged({ path: '_id', filter: 'ids' })).toThrow(
      /expected the option runner to be the BloomGuardRunner/,
    );
    expect(plugged({ runner, path: '_id', filter: 'ids', onError: 'pass' })).toThrow(BloomConfigError);
    const schema = new Schema<Item>({ name: String });
    schema.plugin(bloomMongoosePlugin, { runner, path: 'sku', filter: 'skus' });
    expect(() => itemModel(connection, schema as never)).toThrow(/Its paths are name, _id/);
    const unknown = itemSchema();
    unknown.plugin(bloomMongoosePlugin, { runner, path: 'sku', filter: 'misspelt' });
    await expect(itemModel(connection, unknown).create({ sku: 'a' })).rejects.toThrow(/'misspelt'/);
  });
});

describeOnServer('bloomMongoosePlugin on a server', () => {
  let connection: Connection;
  beforeAll(async () => {
    connection = await connect('bloom_mongoose_plugin');
  });
  beforeEach(async () => {
    await itemModel(connection).collection.deleteMany({});
  });
  afterAll(async () => {
    await connection.dropDatabase();
    await connection.close();
  });

  it('records every document that is there afterwards, and those that the server gave an _id', async () => {
    const { items, ids, skus } = await start(connection);
    const saved = await items.create({ sku: 'created' });
    saved.sku = 'renamed';
    await saved.save();
    await items.insertMany([{ sku: 'one' }, { sku: 'two' }]);
    await items.updateOne({ name: 'upserted' }, { sku: 'up' }, { upsert: true });
    expect(await items.findOneAndUpdate({ name: 'fresh' }, { sku: 'fresh' }, { upsert: true })).toBeNull();
    const found = await items.findOneAndUpdate(
      { name: 'kept' },
      {},
      { upsert: true, returnDocument: 'after' },
    );
    expect(found).toMatchObject({ name: 'kept' });
    const full = await items.findOneAndUpdate(
      { name: 'kept' },
      { sku: 'kept' },
      { includeResultMetadata: true },
    );
    expect(full).toMatchObject({ value: expect.objectContaining({ name: 'kept' }) });
    await items.bulkWrite([
      { updateOne: { filter: { name: 'bulk' }, update: { $set: { sku: 'bulk' } }, upsert: true } },
      { insertOne: { document: { name: 'inserted', sku: 'inserted' } as Item } },
    ]);
    await items.replaceOne({ name: 'replaced' }, { name: 'replaced', sku: 'replaced' }, { upsert: true });
    const all = await items.find();
    expect(all).toHaveLength(9);
    for (const { _id, sku } of all) {
      expect([sku, await ids.check(_id.toHexString())]).toEqual([sku, 'maybe']);
      expect([sku, await skus.check(sku!)]).toEqual([sku, 'maybe']);
    }
    expect(await skus.check('other')).toBe('absent');
  });

  it('records the ids of what was done before a write of many failed', async () => {
    const { items, ids } = await start(connection);
    const taken = await items.create({ sku: 'taken' });
    const operations = [
      { updateOne: { filter: { name: 'first' }, update: { $set: { sku: 'first' } }, upsert: true } },
      { insertOne: { document: { _id: taken._id, name: 'twice' } } },
    ];
    await expect(items.bulkWrite(operations as never)).rejects.toThrow(/E11000/);
    const first = await items.findOne({ name: 'first' });
    expect(await ids.check(first!._id.toHexString())).toBe('maybe');
  });

  it('does not see what is written past Mongoose', async () => {
    const { items, skus } = await start(connection);
    await connection.db!.collection('items').insertOne({ name: 'past', sku: 'past' });
    expect(await items.findOne({ sku: 'past' })).not.toBeNull();
    expect(await skus.check('past')).toBe('absent');
  });
});
