import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type Connection, type Model, mongo, Schema, Types } from 'mongoose';
import { BloomConfigError, type BloomIdSource, BloomModule, BloomService } from 'nestjs-bloom';
import { fromMongoose, type MongooseSourceOptions } from '../src/index.js';
import { startContext } from '../../../test/support/nest-app.js';
import { readAll } from '../../../test/support/read-source.js';
import { connect, connectNowhere, describeOnServer, Item, itemModel, itemSchema } from './items.js';

const QUICK: MongooseSourceOptions = { take: 3, retries: 1, retryMs: 0 };

/** The source as the application makes it. */
function sourceOf(model: Model<Item>, path: '_id' | 'sku' | 'name', options = QUICK): BloomIdSource {
  return fromMongoose(model, path, options).useFactory() as BloomIdSource;
}

describe('fromMongoose', () => {
  let connection: Connection;
  beforeAll(() => void (connection = connectNowhere()));
  afterAll(() => connection.close());

  it('asks for the model by the token of its class, by another token, or takes the model', () => {
    expect(fromMongoose(Item, '_id').inject).toEqual(['ItemModel']);
    expect(fromMongoose(Item, 'sku', { connection: 'shop' }).inject).toEqual(['shopConnection/ItemModel']);
    expect(fromMongoose<Item>('StockModel', 'sku').inject).toEqual(['StockModel']);
    expect(fromMongoose(itemModel(connection), 'sku').inject).toBeUndefined();
  });

  it('takes no path that is not there or cannot hold ids, by its types', () => {
    class Stock {
      tags!: string[];
      madeAt!: Date;
      owner!: Types.ObjectId;
    }
    expect(fromMongoose(Stock, 'owner')).toBeDefined();
    // @ts-expect-error there is no such path
    expect(fromMongoose(Item, 'skuu')).toBeDefined();
    // @ts-expect-error a list
    expect(fromMongoose(Stock, 'tags')).toBeDefined();
    // @ts-expect-error a date
    expect(fromMongoose(Stock, 'madeAt')).toBeDefined();
  });

  it('stops the start for what is no model, for a path that is not there, and for options that cannot work', () => {
    const model = itemModel(connection, new Schema<Item>({ name: String, tags: [String] } as never));
    expect(() => sourceOf(model, 'sku')).toThrow(
      /path of the model Item, got 'sku'\. Its paths are name, tags, _id/,
    );
    expect(() => sourceOf(model, 'tags' as 'sku')).toThrow(/got 'tags', which is of the type Array/);
    expect(() => fromMongoose(Item, '_id').useFactory({ find: () => [] })).toThrow(
      /expected a model of Mongoose/,
    );
    expect(() => fromMongoose(undefined as never, '_id' as never)).toThrow(BloomConfigError);
    expect(() => fromMongoose(Item, '_id', { take: 0 })).toThrow(/take/);
  });

  it('takes _id where no path is named, and knows that ObjectIds are made in order', () => {
    const ids = fromMongoose(itemModel(connection)).useFactory() as BloomIdSource;
    expect([ids.readsFrom, ids.idOrder, typeof ids.newest]).toEqual(['items._id', 'text', 'function']);
    const skus = sourceOf(itemModel(connection), 'sku');
    expect(skus.idOrder).toEqual({ reason: expect.stringContaining('Item.sku is of type String') });
    expect(skus.idsSince).toBeUndefined();
    const named = itemModel(connection, new Schema<Item>({ _id: String, name: String } as never));
    expect(sourceOf(named as Model<Item>, '_id').idOrder).toMatchObject({ reason: expect.any(String) });
  });

  it('knows no order of ObjectIds that the application gives', () => {
    const orderWith = (options: object) => {
      const schema = new Schema<Item>({
        _id: { type: Schema.Types.ObjectId, ...options },
        name: String,
      } as never);
      return sourceOf(itemModel(connection, schema), '_id');
    };
    const given = orderWith({});
    expect(given.idOrder).toEqual({ reason: expect.stringContaining('leaves _id out or sets auto') });
    expect(given.idsSince ?? given.newest).toBeUndefined();
    expect(orderWith({ auto: true }).idOrder).toBe('text');
  });

  it('names the collection and the path that it reads', () => {
    expect(sourceOf(itemModel(connection), 'sku').readsFrom).toBe('items.sku');
  });

  it('chooses how ids are spelled as queries of Mongoose cast what they look for', () => {
    const spelled = (definition: object, options = {}) => {
      const model = itemModel(connection, new Schema<Item>({ sku: definition } as never, options as object));
      return sourceOf(model, 'sku').spelling;
    };
    expect(sourceOf(itemModel(connection), '_id').spelling).toMatchObject({ name: 'objectId' });
    expect(spelled({ type: String })).toBeUndefined();
    expect(spelled({ type: Number })).toMatchObject({ name: 'integer' });
    expect(spelled({ type: BigInt })).toMatchObject({ name: 'integer' });
    expect(spelled({ type: Schema.Types.UUID })).toMatchObject({ name: 'uuid' });
    expect(spelled({ type: Schema.Types.Decimal128 })).toEqual({ column: 'Item.sku is of type Decimal128' });
    const cast = spelled({ type: String, uppercase: true, trim: true })!;
    expect(cast.normalize!(' ab-1 ')).toBe('AB-1');
    expect(cast.normalize!(7)).toBe(7);
    expect(spelled({ type: String }, { collation: { locale: 'en', strength: 2 } })).toMatchObject({
      name: 'lowerCase',
    });
    expect(spelled({ type: String }, { collation: { locale: 'simple' } })).toBeUndefined();
    expect(spelled({ type: String }, { collation: { locale: 'en', numericOrdering: true } })).toEqual({
      column: 'Item.sku is text with a collation of its own',
    });
  });

  it('fails a rebuild that cannot ask the database, and does not take it for an empty one', async () => {
    const context = await startContext({
      imports: [
        BloomModule.forRoot({
          onEvent: () => {},
          filters: [
            {
              name: 'items',
              capacity: 100,
              source: fromMongoose(itemModel(connection), '_id', QUICK),
              rebuild: { drainMs: 0, onBoot: 'never' },
            },
          ],
        }),
      ],
    });
    const filter = context.get(BloomService).filter('items');
    await expect(filter.rebuild({ force: true })).rejects.toThrow(/source-failed/);
    expect(await filter.check(new Types.ObjectId().toHexString())).toBe('unknown');
    await context.close();
  });
});

describeOnServer('fromMongoose on a server', () => {
  let connection: Connection;
  let items: Model<Item>;
  beforeAll(async () => {
    connection = await connect('bloom_from_mongoose');
  });
  beforeEach(async () => {
    items = itemModel(connection);
    await items.collection.deleteMany({});
  });
  afterAll(async () => {
    await connection.dropDatabase();
    await connection.close();
  });

  it('reads the path of all documents in pages, past the middleware of the schema', async () => {
    const schema = itemSchema();
    schema.pre(/^find/, function () {
      void (this as unknown as { where(filter: object): void }).where({ sku: 'none' });
    });
    items = itemModel(connection, schema);
    const made = await items.insertMany(
      Array.from({ length: 10 }, (_, i) => ({ name: `n${i}`, sku: i % 2 ? `s${i}` : null })),
    );
    expect(await items.find()).toEqual([]);
    expect(await readAll(sourceOf(items, '_id'))).toEqual(made.map(({ _id }) => _id.toHexString()));
    expect(await readAll(sourceOf(items, 'sku'))).toEqual(['s1', 's3', 's5', 's7', 's9']);
    expect(await sourceOf(items, '_id').count!()).toBe(10);
  });

  it('gives documents after an ObjectId, in their order', async () => {
    const ids = ['a1', 'a2', 'b1', 'b2'].map((end) => end.padStart(24, '0'));
    await items.collection.insertMany(
      ids.toReversed().map((id) => ({ _id: new Types.ObjectId(id) })) as never,
    );
    await items.collection.insertOne({ _id: 'zzz' } as never);
    const source = sourceOf(items, '_id');
    expect([await source.newest!(), await source.newest!(3), await source.newest!(4)]).toEqual([
      ids[3],
      ids[0],
      undefined,
    ]);
    const since = async (mark: string | undefined) => {
      const found: unknown[] = [];
      for await (const batch of source.idsSince!(mark, { signal: new AbortController().signal }))
        found.push(...(batch as string[]));
      return found;
    };
    expect(await since(ids[1])).toEqual(ids.slice(2));
    expect(await since(undefined)).toEqual(ids);
  });

  it('reads keys of every type, in pages that end between two types', async () => {
    const { Binary, Long } = mongo;
    const uuid = Binary.createFromHexString('0123456789abcdef0123456789abcdef', 4);
    const keys = [
      7,
      Long.fromString('9007199254740993'),
      'a',
      'b',
      uuid,
      new Types.ObjectId('a'.repeat(24)),
      'c',
      8,
    ];
    await items.collection.insertMany(keys.map((_id) => ({ _id, name: 'x' })) as never);
    for (const take of [1, 2, 3, 100]) {
      const ids = await readAll(sourceOf(items, '_id', { ...QUICK, take }));
      expect(ids.map(String).toSorted()).toEqual(
        [
          '7',
          '8',
          '9007199254740993',
          'a',
          'b',
          'c',
          'a'.repeat(24),
          '01234567-89ab-cdef-0123-456789abcdef',
        ].toSorted(),
      );
    }
  });

  it('reads the documents of one kind where several share a collection', async () => {
    const root = itemModel(connection);
    const book = root.discriminator<Item>('Book', new Schema<Item>({}));
    await root.create({ name: 'plain', sku: 'p' });
    await book.create({ name: 'book', sku: 'b' });
    expect(await readAll(sourceOf(book, 'sku'))).toEqual(['b']);
    expect((await readAll(sourceOf(root, 'sku'))).toSorted()).toEqual(['b', 'p']);
    expect(sourceOf(book, 'sku').count).toBeUndefined();
  });

  it('fills a filter that every spelling of an ObjectId finds', async () => {
    const { _id } = await items.create({ name: 'one' });
    const context = await startContext({
      imports: [
        BloomModule.forRoot({
          onEvent: () => {},
          filters: [
            {
              name: 'items',
              capacity: 100,
              errorRate: 1e-6,
              source: fromMongoose(items, '_id'),
              coverage: 'none',
              rebuild: { drainMs: 0 },
            },
          ],
        }),
      ],
    });
    const filter = context.get(BloomService).filter('items');
    await filter.rebuild();
    for (const id of [_id.toHexString(), _id.toHexString().toUpperCase(), _id.id])
      expect(await filter.check(id)).toBe('maybe');
    expect(await filter.check(new Types.ObjectId().toHexString())).toBe('absent');
    await context.close();
  });
});
