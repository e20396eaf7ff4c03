import { Controller, Get } from '@nestjs/common';
import { HealthCheck, HealthCheckService } from '@nestjs/terminus';
import { FilterHealth } from './filter-health.js';

@Controller('health')
export class HealthController {
  constructor(
    private readonly health: HealthCheckService,
    private readonly filters: FilterHealth,
  ) {}

  @Get('live')
  @HealthCheck()
  live() {
    return this.health.check([() => this.filters.isAlive('products')]);
  }

  @Get('ready')
  @HealthCheck()
  ready() {
    return this.health.check([() => this.filters.isReady('products')]);
  }
}
