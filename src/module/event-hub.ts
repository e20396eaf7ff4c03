import { Logger } from '@nestjs/common';
import { type BloomEventListener, describeError } from '../common/index.js';
import { EventLog } from './event-log.js';

/** Hands every event to the application (or to its log) and to those in the module who act on it. */
export class EventHub {
  private readonly listeners = new Set<BloomEventListener>();
  private readonly logger = new Logger('Bloom');

  constructor(onEvent: BloomEventListener | undefined) {
    const log = new EventLog();
    this.listeners.add(onEvent ?? ((event) => log.write(event)));
  }

  readonly emit: BloomEventListener = (event) => {
    for (const listener of this.listeners) {
      try {
        listener(event);
      } catch (error) {
        this.logger.error(`A listener failed on the event '${event.type}': ${describeError(error)}`);
      }
    }
  };

  listen(listener: BloomEventListener): void {
    this.listeners.add(listener);
  }
}
