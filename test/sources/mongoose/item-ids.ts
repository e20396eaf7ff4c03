import type { Model, Schema } from 'mongoose';
import type { BloomFilter, BloomIdSource } from 'nestjs-bloom';

export interface Item {
  name: string;
}

// What follows is the code of docs/sources.md.
export const itemIds = (items: Model<Item>): BloomIdSource => ({
  async *ids({ signal }) {
    await items.db.asPromise();
    const options = { projection: { _id: 1 }, batchSize: 5000, readPreference: 'primary', signal } as const;
    for await (const { _id } of items.collection.find({}, options).sort({ _id: 1 })) yield _id.toHexString();
  },
  count: () => items.estimatedDocumentCount(),
});

/** Adds the id of a document before `save` and `create` write it. */
export function registerItems(schema: Schema<Item>, filter: BloomFilter): void {
  schema.pre('save', async function () {
    if (this.isNew) await filter.add(this._id.toHexString());
  });
}
