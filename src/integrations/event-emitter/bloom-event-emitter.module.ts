import { type DynamicModule, Module } from '@nestjs/common';
import { BloomConfigError, checkOptions, type OptionNames } from '../../common/index.js';
import { wrongPrefix } from './event-emitter.messages.js';
import { EVENT_PREFIX, EventForwarder } from './event-forwarder.js';

/** Of `BloomEventEmitterModule.forRoot`. */
export interface BloomEventEmitterOptions {
  /** Head of the name of every event. Default `bloom.`, so that `bloom.*` means all of them where the emitter has wildcards. */
  readonly prefix?: string;
}

const OPTIONS = { prefix: true } satisfies OptionNames<BloomEventEmitterOptions>;

/**
 * Emits every event of the filters on the `EventEmitter2` of `@nestjs/event-emitter`, as `bloom.rebuild-failed` and so on. What is reported before the
 * listeners of the application are known is emitted as soon as they are. Import it once, beside `EventEmitterModule.forRoot()`.
 *
 * @example
 * ```ts
 * @OnEvent('bloom.rebuild-failed')
 * onFailure({ filter, error }: BloomEventOf<'rebuild-failed'>) { … }
 * ```
 */
@Module({})
export class BloomEventEmitterModule {
  /**
   * @throws {BloomConfigError} for options that cannot work.
   * @throws at start {BloomConfigError} without `EventEmitterModule`.
   */
  static forRoot(options: BloomEventEmitterOptions = {}): DynamicModule {
    checkOptions(options, { where: 'BloomEventEmitterModule', known: OPTIONS });
    const { prefix = 'bloom.' } = options;
    if (typeof prefix !== 'string') throw new BloomConfigError(wrongPrefix(prefix));
    return {
      module: BloomEventEmitterModule,
      providers: [{ provide: EVENT_PREFIX, useValue: prefix }, EventForwarder],
    };
  }
}
