import { Logger } from '@nestjs/common';
import { BloomConfigError, type BloomEvent, type BloomEventListener, withHelp } from '../common/index.js';
import { EventLog } from './event-log.js';
import type { DiscoveryService, MetadataScanner } from '@nestjs/core';
import { handledBy } from './on-bloom-event.decorator.js';
import { handlerOfNoSingleton, listenerFailed } from './module.messages.js';

export interface EventHubOptions {
  readonly onEvent?: BloomEventListener | undefined;
  /** Whether events are written to Nest's log. Default true. */
  readonly logger?: boolean | undefined;
}

/** So many events of the time before the application is initialised are kept for its handlers. */
const MAX_EARLY = 100;

/** Hands every event to the log, to the application, and to those in the module who act on it. */
export class EventHub {
  private readonly listeners = new Set<(event: BloomEvent) => unknown>();
  private readonly logger = new Logger('Bloom');
  /** Undefined once the handlers of the application are known. */
  private early: BloomEvent[] | undefined = [];

  constructor({ onEvent, logger = true }: EventHubOptions) {
    const log = new EventLog();
    if (logger) this.listeners.add((event) => log.write(event));
    if (onEvent) this.listeners.add(onEvent);
  }

  readonly emit: BloomEventListener = (event) => {
    if (this.early && this.early.length < MAX_EARLY) this.early.push(event);
    for (const listener of this.listeners) this.hand(event, listener);
  };

  listen(listener: BloomEventListener): void {
    this.listeners.add(listener);
  }

  /** Adds the handlers of the application, and hands them what has happened until now. To be called once. */
  addHandlers(handlers: readonly ((event: BloomEvent) => unknown)[]): void {
    const { early = [] } = this;
    this.early = undefined;
    for (const handler of handlers) {
      for (const event of early) this.hand(event, handler);
      this.listeners.add(handler);
    }
  }

  private hand(event: BloomEvent, listener: (event: BloomEvent) => unknown): void {
    const failed = (error: unknown) => this.logger.error(withHelp(listenerFailed(event.type, error)));
    try {
      const result = listener(event);
      if (result instanceof Promise) result.catch(failed);
    } catch (error) {
      failed(error);
    }
  }
}

type Handler = (event: Parameters<BloomEventListener>[0]) => unknown;

/** Finds the methods with `@OnBloomEvent` of all providers and controllers. */
export class EventHandlers {
  constructor(
    private readonly discovery: DiscoveryService,
    private readonly scanner: MetadataScanner,
  ) {}

  /**
   * To be called when every provider exists. Throws for a request-scoped or transient one: an event has no
   * request.
   */
  find(): Handler[] {
    const handlers: Handler[] = [];
    const seen = new Set<object>();
    for (const wrapper of [...this.discovery.getProviders(), ...this.discovery.getControllers()]) {
      const { instance, metatype } = wrapper as { instance: unknown; metatype: Function | null };
      const isStatic = wrapper.isDependencyTreeStatic() && !wrapper.isTransient;
      const holder = isStatic ? instance : metatype?.prototype;
      if (typeof holder !== 'object' || holder === null || seen.has(holder)) continue;
      seen.add(holder);
      for (const { name, handles } of this.methodsOf(holder)) {
        if (!isStatic) throw new BloomConfigError(handlerOfNoSingleton(`${metatype?.name}.${name}`));
        handlers.push((event) =>
          handles(event) ? (holder as Record<string, Handler>)[name]!(event) : undefined,
        );
      }
    }
    return handlers;
  }

  private methodsOf(holder: object) {
    const prototype: object | null = Object.hasOwn(holder, 'constructor')
      ? holder
      : Object.getPrototypeOf(holder);
    return this.scanner.getAllMethodNames(prototype).flatMap((name) => {
      const method: unknown = (prototype as Record<string, unknown>)[name];
      const handles = typeof method === 'function' ? handledBy(method) : undefined;
      return handles ? [{ name, handles }] : [];
    });
  }
}
