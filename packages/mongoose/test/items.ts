import { describe } from '@jest/globals';
import mongoose, { type Connection, type Model, Schema } from 'mongoose';

/** A document of the tests: a class, as `@nestjs/mongoose` has it. */
export class Item {
  name!: string;
  sku?: string | null;
}

/** The address of a MongoDB server of the tests, which nobody else uses. */
const SERVER = process.env.BLOOM_TEST_MONGODB_URL;

/** Tests that need a server, which no package has; without one they are skipped, and say so. */
export function describeOnServer(name: string, tests: () => void): void {
  if (SERVER !== undefined) {
    describe(name, tests);
    return;
  }
  const skipped = `${name} (SKIPPED: no server of MongoDB)`;
  process.stderr.write(`\n${skipped}. Set BLOOM_TEST_MONGODB_URL to the address of one.\n`);
  describe.skip(skipped, tests);
}

/** Nothing listens there: no server takes part. */
export const NOWHERE = 'mongodb://127.0.0.1:1/shop';

export const itemSchema = () =>
  new Schema<Item>(
    { name: { type: String }, sku: { type: String } },
    { bufferTimeoutMS: 50, autoIndex: false, autoCreate: false },
  );

/** A connection to a server, to a database of its own. */
export async function connect(database: string): Promise<Connection> {
  const connection = mongoose.createConnection(SERVER!, { dbName: database, serverSelectionTimeoutMS: 5000 });
  await connection.asPromise();
  await connection.dropDatabase();
  return connection;
}

/** A connection that never opens. */
export function connectNowhere(): Connection {
  const connection = mongoose.createConnection(NOWHERE, { serverSelectionTimeoutMS: 200 });
  connection.asPromise().catch(() => {});
  return connection;
}

/** A model of a connection, made anew of another schema. */
export function itemModel(connection: Connection, schema = itemSchema()): Model<Item> {
  if (connection.models.Item) connection.deleteModel('Item');
  return connection.model<Item>('Item', schema, 'items');
}
