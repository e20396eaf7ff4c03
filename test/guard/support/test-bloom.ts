import type { DynamicModule } from '@nestjs/common';
import { type BloomEvent, type BloomGuardDefaults, BloomModule, BloomService } from 'nestjs-bloom';
import type { TestFilter } from './test-filter.js';

export interface TestBloomOptions {
  readonly filters: readonly TestFilter[];
  readonly events?: BloomEvent[];
  readonly defaults?: BloomGuardDefaults;
}

class TestFiltersModule {}

/** `BloomModule`, and filters that a test can make fail. */
export function testBloom({ filters, events = [], defaults }: TestBloomOptions): DynamicModule {
  return {
    module: TestFiltersModule,
    imports: [BloomModule.forRoot({ onEvent: (event) => events.push(event), guard: defaults })],
    providers: [
      {
        provide: 'registration',
        inject: [BloomService],
        useFactory: (service: BloomService) => filters.forEach((filter) => service.register(filter)),
      },
    ],
  };
}
