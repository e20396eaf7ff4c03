import { Module } from '@nestjs/common';
import { MongooseModule, SchemaFactory } from '@nestjs/mongoose';
import { BloomGuardRunner, BloomModule } from 'nestjs-bloom';
import { bloomMongoosePlugin, fromMongoose } from '@nestjs-bloom/mongoose';
import { ItemController } from './item.controller.js';
import { ItemRepository } from './item.repository.js';
import { Item } from './item.schema.js';

@Module({
  imports: [
    MongooseModule.forRoot(process.env.MONGODB_URL ?? 'mongodb://localhost:27017', {
      dbName: 'bloom_example',
    }),
    BloomModule.forRoot({
      redis: process.env.REDIS_URL ?? 'redis://localhost:6379',
      timeoutMs: Number(process.env.BLOOM_TIMEOUT_MS ?? 25),
    }),
    BloomModule.forFeature({
      name: 'items',
      capacity: 100_000,
      source: fromMongoose(Item, '_id'),
      // Longer than any transaction here that creates an item.
      rebuild: { everyMs: 3_600_000, drainMs: 3_000 },
    }),
    MongooseModule.forFeatureAsync([
      {
        name: Item.name,
        inject: [BloomGuardRunner],
        // Each application makes a schema of its own, which records what its models write.
        useFactory: (runner: BloomGuardRunner) => {
          const schema = SchemaFactory.createForClass(Item);
          return schema.plugin(bloomMongoosePlugin, { runner, path: '_id', filter: 'items' });
        },
      },
    ]),
  ],
  controllers: [ItemController],
  providers: [ItemRepository],
})
export class AppModule {}
