import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { INestApplicationContext } from '@nestjs/common';
import { type Connection, type Model, Schema, type Types } from 'mongoose';
import { type BloomFilter, BloomGuardRunner, BloomModule, BloomService } from 'nestjs-bloom';
import { bloomMongoosePlugin, fromMongoose } from '../src/index.js';
import { startContext } from '../../../test/support/nest-app.js';
import { madeBy, readAll } from '../../../test/support/read-source.js';
import { connect, connectNowhere, describeOnServer } from './items.js';

/** A document with ids in a nested path and in a subdocument. */
class Shelf {
  name!: string;
  place?: { code?: string; room?: { no?: string } };
  sub?: { sku?: string };
  tags!: string[];
  books!: { isbn: string }[];
  owner!: Types.ObjectId;
  madeAt!: Date;
}

const PATHS = ['place.code', 'sub.sku'] as const;

function shelfSchema(): Schema<Shelf> {
  const get = (value?: string) => value && `got ${value}`;
  const schema = new Schema(
    {
      name: { type: String, alias: 'label' },
      place: { code: String, room: { no: String } },
      sub: new Schema({ sku: { type: String, get } }, { _id: false }),
      tags: [String],
      books: [{ isbn: String }],
      notes: { type: Map, of: String },
      shelf: { type: Schema.Types.ObjectId, ref: 'Shelf' },
    },
    { bufferTimeoutMS: 50, autoIndex: false, autoCreate: false },
  );
  schema.virtual('sku').get(() => 'virtual');
  return schema as unknown as Schema<Shelf>;
}

function modelOf(connection: Connection, schema = shelfSchema()): Model<Shelf> {
  if (connection.models.Shelf) connection.deleteModel('Shelf');
  return connection.model<Shelf>('Shelf', schema, 'shelves');
}

let context: INestApplicationContext;

/** A model of which both paths are recorded in a filter each. */
async function start(connection: Connection) {
  const filters = PATHS.map((name) => ({
    name,
    capacity: 1000,
    errorRate: 1e-6,
    source: { ids: async function* () {} },
    rebuild: { drainMs: 0, onBoot: 'never' as const },
  }));
  context = await startContext({ imports: [BloomModule.forRoot({ onEvent: () => {}, filters })] });
  const runner = context.get(BloomGuardRunner, { strict: false });
  const schema = shelfSchema();
  for (const path of PATHS) schema.plugin(bloomMongoosePlugin, { runner, path, filter: path });
  const all = PATHS.map((path) => context.get(BloomService).filter(path));
  for (const filter of all) await filter.rebuild({ force: true });
  return { shelves: modelOf(connection, schema), filters: all as [BloomFilter, BloomFilter] };
}

const both = (id: string) => ({ place: { code: id }, sub: { sku: id } });
const dotted = (id: string) => ({ 'place.code': id, 'sub.sku': id });
const name = 'x';

/** All ways in which Mongoose sets both paths to an id. */
const WRITES: Readonly<Record<string, (shelves: Model<Shelf>, id: string) => Promise<unknown>>> = {
  create: (shelves, id) => shelves.create({ name, ...both(id) }),
  insertOne: (shelves, id) => shelves.insertOne({ name, ...both(id) }),
  insertMany: (shelves, id) => shelves.insertMany([{ name: 'y' }, { name, ...both(id) }]),
  bulkSave: (shelves, id) => shelves.bulkSave([new shelves({ name, ...both(id) })]),
  'updateOne, dotted': (shelves, id) => shelves.updateOne({ name }, dotted(id)),
  'updateOne, whole documents': (shelves, id) => shelves.updateOne({ name }, both(id)),
  'updateMany, upserted': (shelves, id) =>
    shelves.updateMany({ name: id }, { $setOnInsert: both(id) }, { upsert: true }),
  findOneAndUpdate: (shelves, id) => shelves.findOneAndUpdate({ name }, { $set: both(id) }),
  findOneAndReplace: (shelves, id) => shelves.findOneAndReplace({ name }, { name, ...both(id) }),
  replaceOne: (shelves, id) => shelves.replaceOne({ name }, { name, ...both(id) }),
  'upsert of a condition': (shelves, id) =>
    shelves.updateOne({ 'place.code': id, sub: { sku: id } }, { name: id }, { upsert: true }),
  'bulkWrite insertOne': (shelves, id) => shelves.bulkWrite([{ insertOne: { document: both(id) as never } }]),
  'bulkWrite updateOne': (shelves, id) =>
    shelves.bulkWrite([{ updateOne: { filter: { name }, update: both(id) } }]),
  'bulkWrite updateMany': (shelves, id) =>
    shelves.bulkWrite([{ updateMany: { filter: { name }, update: { $set: dotted(id) } } }]),
  'bulkWrite replaceOne': (shelves, id) =>
    shelves.bulkWrite([{ replaceOne: { filter: { name }, replacement: { name, ...both(id) } as never } }]),
};

describe('A path in a document of a document', () => {
  let connection: Connection;
  beforeAll(() => void (connection = connectNowhere()));
  afterAll(() => connection.close());

  it('is recorded before the write is sent', async () => {
    const { shelves, filters } = await start(connection);
    const piped: typeof WRITES = {
      ...WRITES,
      pipeline: (_, id) => shelves.updateOne({}, [{ $set: dotted(id) }], { updatePipeline: true }),
    };
    for (const [id, write] of Object.entries(piped)) {
      for (const filter of filters) expect([id, await filter.check(id)]).toEqual([id, 'absent']);
      await expect(write(shelves, id)).rejects.toThrow(/buffering timed out/);
      for (const filter of filters) expect([id, await filter.check(id)]).toEqual([id, 'maybe']);
    }
    await context.close();
  });

  it('is refused if only the server knows what a write makes of it', async () => {
    const { shelves } = await start(connection);
    const pipeline = (stage: object) => () =>
      shelves.updateOne({}, [stage] as never, { updatePipeline: true });
    for (const write of [
      () => shelves.updateOne({}, { $rename: { name: 'place.code' } }),
      () => shelves.updateOne({}, { $rename: { name: 'sub' } }),
      () => shelves.collection.updateOne({}, { $max: { place: { code: 'a' } } } as never),
      () => shelves.collection.updateOne({}, { $min: { 'sub.sku': 'a' } } as never),
      pipeline({ $set: { 'place.code': '$name' } }),
      pipeline({ $set: { place: { code: '$name' } } }),
      pipeline({ $set: { sub: '$place' } }),
    ]) {
      await expect(write()).rejects.toThrow(
        /^bloomMongoosePlugin cannot record the id of a document in filter '(place\.code|sub\.sku)'/,
      );
    }
    await expect(shelves.collection.insertOne({ place: [{ code: 'a' }] } as never)).rejects.toThrow(
      /Expected an id/,
    );
    await expect(shelves.updateOne({}, { $unset: { place: 1, 'sub.sku': 1 } })).rejects.toThrow(/buffering/);
    await context.close();
  });

  it('is recorded where a kind of the model writes it, and where a document stands for its reference', async () => {
    const { shelves, filters } = await start(connection);
    const [, skus] = filters;
    const kind = shelves.discriminator('Kind', new Schema({}));
    const runner = context.get(BloomGuardRunner, { strict: false });
    const schema = new Schema({ in: new Schema({ owner: { type: Schema.Types.ObjectId, ref: 'Shelf' } }) });
    schema.set('bufferTimeoutMS', 50).set('autoCreate', false);
    schema.plugin(bloomMongoosePlugin, { runner, path: 'in.owner', filter: 'sub.sku' });
    const boxes = connection.model('Box', schema, 'boxes');
    await expect(kind.create({ name, sub: { sku: 'of a kind' } })).rejects.toThrow(/buffering/);
    expect(await skus.check('of a kind')).toBe('maybe');
    for (const write of [
      (owner: object) => boxes.create({ in: { owner } } as never),
      (owner: object) => boxes.updateOne({}, { in: { owner } } as never),
      (owner: object) => boxes.updateOne({}, { 'in.owner': owner } as never),
    ]) {
      const owner = new shelves({ name });
      await expect(write(owner)).rejects.toThrow(/buffering/);
      expect(await skus.check(owner._id.toHexString())).toBe('maybe');
    }
    connection.deleteModel('Box').deleteModel('Kind');
    await context.close();
  });

  it.each([
    ['books.isbn', /where books is of the type (Document)?Array\. Read such ids with fromPages/],
    ['books.0.isbn', /where books is of the type/],
    ['tags.0', /where tags is of the type Array/],
    ['notes.a', /where notes is of the type Map/],
    ['notes.$*', /where notes is of the type Map/],
    ['place', /Its paths are name, place\.code, place\.room\.no, sub/],
    ['place.codes', /Its paths are/],
    ['sub', /which is of the type Embedded/],
    ['shelf.name', /Its paths are/],
    ['label', /Its paths are/],
    ['sku', /Its paths are/],
  ])('%s is refused by source and plugin', async (path, text) => {
    const { runner } = { runner: { registrar: {} } as never };
    const model = modelOf(connection);
    await expect(madeBy(fromMongoose(model, path as 'sub.sku'))).rejects.toThrow(text);
    const schema = shelfSchema().plugin(bloomMongoosePlugin, { runner, path, filter: 'a' });
    expect(() => modelOf(connection, schema)).toThrow(text);
  });

  it('is one that the types know', () => {
    expect(fromMongoose(Shelf, 'place.code')).toBeDefined();
    expect(fromMongoose(Shelf, 'place.room.no')).toBeDefined();
    // @ts-expect-error there is no such path
    expect(fromMongoose(Shelf, 'place.codes')).toBeDefined();
    // @ts-expect-error a document
    expect(fromMongoose(Shelf, 'place')).toBeDefined();
    // @ts-expect-error a path of text
    expect(fromMongoose(Shelf, 'name.length')).toBeDefined();
    // @ts-expect-error documents of a list
    expect(fromMongoose(Shelf, 'books.isbn')).toBeDefined();
    // @ts-expect-error a path of an ObjectId
    expect(fromMongoose(Shelf, 'owner.id')).toBeDefined();
    // @ts-expect-error a path of a date
    expect(fromMongoose(Shelf, 'madeAt.no')).toBeDefined();
  });
});

describeOnServer('A path in a document of a document, on a server', () => {
  let connection: Connection;
  beforeAll(async () => {
    connection = await connect('bloom_nested_paths');
  });
  afterAll(async () => {
    await connection.dropDatabase();
    await connection.close();
  });

  it('is in the filter for every document that is there, whichever way it was written, and is read', async () => {
    const { shelves, filters } = await start(connection);
    for (const [id, write] of Object.entries(WRITES)) {
      await shelves.collection.deleteMany({});
      const saved = await shelves.create({ name, ...both('saved') });
      if (id === 'create') {
        saved.set(dotted('changed'));
        await saved.save();
        saved.set(both('set'));
        await saved.save();
      }
      await write(shelves, id);
      for (const [at, path] of PATHS.entries()) {
        const stored = (await shelves.distinct(path)) as string[];
        expect(stored).toContain(id);
        for (const one of stored) expect([one, await filters[at]!.check(one)]).toEqual([one, 'maybe']);
        const read = await readAll(await madeBy(fromMongoose(shelves, path, { take: 1 })));
        expect(new Set(read)).toEqual(new Set(stored));
      }
    }
    await context.close();
  });

  it('is read in an _id, and fails a rebuild if a document has a list there', async () => {
    const keyed = new Schema({ _id: { shop: String, no: Number } }, { autoIndex: false });
    const model = connection.model('Keyed', keyed, 'keyed');
    for (const no of [1, 2, 3]) await model.collection.insertOne({ _id: { shop: `s${no}`, no } } as never);
    expect(await readAll(await madeBy(fromMongoose(model, '_id.shop' as never, { take: 2 })))).toEqual([
      's1',
      's2',
      's3',
    ]);
    const shelves = modelOf(connection);
    await shelves.collection.insertOne({ place: [{ code: 'a' }] } as never);
    const filter = { name: 'codes', capacity: 10, source: fromMongoose(shelves, 'place.code') };
    context = await startContext({
      imports: [
        BloomModule.forRoot({
          onEvent: () => {},
          filters: [{ ...filter, rebuild: { onBoot: 'never', drainMs: 0 } }],
        }),
      ],
    });
    await expect(context.get(BloomService).filter('codes').rebuild()).rejects.toThrow(/Expected an id/);
    await context.close();
  });
});
