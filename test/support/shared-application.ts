import type { TestingModule } from '@nestjs/testing';
import {
  type BloomEvent,
  type BloomEventOf,
  type BloomEventType,
  type BloomFeature,
  type BloomIdsContext,
  BloomModule,
  type BloomModuleOptions,
  BloomService,
} from 'nestjs-bloom';
import { given } from './given.js';
import { startContext } from './nest-app.js';
import { PATIENT } from './patience.js';

/** The name of its filter. */
export const PRODUCTS = 'products';

/** A source that goes on when the test says so. */
export class GatedSource {
  private gate = Promise.resolve();
  open: () => void = () => {};

  close(): void {
    this.gate = new Promise((resolve) => (this.open = resolve));
  }

  async *ids({ signal }: BloomIdsContext): AsyncGenerator<string[]> {
    yield ['a', 'b'];
    const aborted = new Promise<never>(
      (_, reject) => (signal.onabort = () => reject(signal.reason as Error)),
    );
    await Promise.race([this.gate, aborted]);
    yield ['c'];
  }
}

/** One of several applications that share a filter. */
export interface SharedApplication {
  readonly module: TestingModule;
  readonly bloom: BloomService;
  readonly events: BloomEvent[];
  readonly source: GatedSource;
  mode(): string;
  of<Type extends BloomEventType>(type: Type): BloomEventOf<Type>[];
  close(): Promise<void>;
}

/**
 * @param options that the processes report to each other is the default here
 * @param library what the application is made of
 */
export async function startShared(
  options: BloomModuleOptions,
  feature: Partial<BloomFeature> = {},
  library = { BloomModule, BloomService },
): Promise<SharedApplication> {
  const events: BloomEvent[] = [];
  const source = new GatedSource();
  const filter = given({
    name: PRODUCTS,
    capacity: 100,
    source,
    rebuild: { onBoot: 'never', drainMs: 0 },
    ...feature,
  }) as BloomFeature;
  const onEvent = (event: BloomEvent) => {
    events.push(event);
    options.onEvent?.(event);
  };
  const all = { owner: 'shop', ...PATIENT, heartbeat: true, ...options, filters: [filter], onEvent };
  const root = library.BloomModule.forRoot(given(all));
  const module = await startContext({ imports: [root] });
  const bloom = module.get(library.BloomService);
  return {
    module,
    bloom,
    events,
    source,
    mode: () => bloom.filter(filter.name).guarding.mode,
    of: (type) => events.filter((event) => event.type === type) as never,
    close: () => module.close(),
  };
}
