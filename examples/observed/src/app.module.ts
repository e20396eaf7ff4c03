import { Module } from '@nestjs/common';
import { EventEmitterModule } from '@nestjs/event-emitter';
import { TerminusModule } from '@nestjs/terminus';
import { BloomModule } from 'nestjs-bloom';
import { Alarms } from './alarms.js';
import { EventForwarder } from './event-forwarder.js';
import { FilterHealth } from './filter-health.js';
import { HealthController } from './health.controller.js';

@Module({
  imports: [
    BloomModule.forRoot({ redis: process.env.REDIS_URL ?? 'redis://localhost:6379' }),
    BloomModule.forFeature({
      name: 'products',
      capacity: 100_000,
      source: {
        // Stands for a database.
        async *ids() {
          yield ['mug', 'lamp'];
        },
      },
      rebuild: { onBoot: 'never', drainMs: 0 },
    }),
    EventEmitterModule.forRoot(),
    TerminusModule.forRoot({ logger: false }),
  ],
  controllers: [HealthController],
  providers: [Alarms, EventForwarder, FilterHealth],
})
export class AppModule {}
