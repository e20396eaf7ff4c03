import { Inject, Injectable, type OnApplicationBootstrap, Optional } from '@nestjs/common';
import { EventEmitter2, EventEmitterReadinessWatcher } from '@nestjs/event-emitter';
import { BloomConfigError, type BloomEvent } from '../../common/index.js';
import { OnBloomEvent } from '../../module/index.js';
import { NO_EVENT_EMITTER } from './event-emitter.messages.js';

export const EVENT_PREFIX = Symbol('nestjs-bloom event emitter prefix');

/** So many events of the time before the listeners are known are kept for them. */
const MAX_EARLY = 100;

/** Hands events to the emitter of the application. */
@Injectable()
export class EventForwarder implements OnApplicationBootstrap {
  private readonly emitter: EventEmitter2;
  private readonly readiness: EventEmitterReadinessWatcher;
  /** Undefined once the listeners of the application are known. */
  private early: BloomEvent[] | undefined = [];

  /** @throws {BloomConfigError} without `EventEmitterModule`. */
  constructor(
    @Inject(EVENT_PREFIX) private readonly prefix: string,
    @Optional() @Inject(EventEmitter2) emitter?: EventEmitter2,
    @Optional() @Inject(EventEmitterReadinessWatcher) readiness?: EventEmitterReadinessWatcher,
  ) {
    if (!emitter || !readiness) throw new BloomConfigError(NO_EVENT_EMITTER);
    this.emitter = emitter;
    this.readiness = readiness;
  }

  @OnBloomEvent()
  onEvent(event: BloomEvent): void {
    if (!this.early) this.emitter.emit(this.prefix + event.type, event);
    else if (this.early.length < MAX_EARLY) this.early.push(event);
  }

  onApplicationBootstrap(): void {
    const emitEarly = () => {
      const { early = [] } = this;
      this.early = undefined;
      for (const event of early) this.onEvent(event);
    };
    // Where the listeners cannot be found, the application does not start.
    this.readiness.waitUntilReady().then(emitEarly, () => {});
  }
}
