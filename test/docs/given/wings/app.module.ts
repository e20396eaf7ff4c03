import { Module } from '@nestjs/common';
import { ScheduleModule } from '@nestjs/schedule';
import { BloomModule } from 'nestjs-bloom';
import { CatalogueModule } from './catalogue.module.js';

@Module({
  imports: [
    ScheduleModule.forRoot(),
    BloomModule.forRoot({ redis: 'redis://localhost:6379' }),
    CatalogueModule,
  ],
})
export class AppModule {}
