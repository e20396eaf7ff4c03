import { Body, Controller, Get, NotFoundException, Param, Post } from '@nestjs/common';
import { ItemRepository } from './item.repository.js';
import { Item } from './item.schema.js';

@Controller('items')
export class ItemController {
  constructor(private readonly items: ItemRepository) {}

  @Get(':id')
  async findOne(@Param('id') id: string): Promise<Item> {
    const item = await this.items.findById(id);
    if (!item) throw new NotFoundException();
    return item;
  }

  @Post()
  async create(@Body() { name }: { name: string }): Promise<{ id: string }> {
    return { id: await this.items.create(name) };
  }
}
