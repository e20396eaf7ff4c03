import { Controller, Get } from '@nestjs/common';
import { type BloomFilterInfo, BloomService } from 'nestjs-bloom';
import { type ShopFigures, ShopStatistics } from './shop-statistics.js';

@Controller('statistics')
export class StatisticsController {
  constructor(
    private readonly statistics: ShopStatistics,
    private readonly bloom: BloomService,
  ) {}

  @Get()
  async read(): Promise<ShopFigures & { filters: BloomFilterInfo[] }> {
    const filters = await Promise.all(this.bloom.filters().map((filter) => filter.info()));
    return { ...this.statistics.snapshot(), filters };
  }
}
