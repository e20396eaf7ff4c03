import { Injectable } from '@nestjs/common';
import { InjectModel } from '@nestjs/mongoose';
import { Model } from 'mongoose';
import { BloomGuarded } from 'nestjs-bloom';
import { Item } from './item.schema.js';

@Injectable()
export class ItemRepository {
  /** How often the database was asked. */
  lookups = 0;

  constructor(@InjectModel(Item.name) private readonly items: Model<Item>) {}

  @BloomGuarded('items')
  async findById(id: string): Promise<Item | null> {
    this.lookups++;
    return this.items.findById(id).lean();
  }

  /** The plugin of the schema has recorded its id before the document is written. */
  async create(name: string): Promise<string> {
    const item = await this.items.create({ name });
    return item.id;
  }
}
