import type { DiscoveryService, MetadataScanner } from '@nestjs/core';
import { BloomConfigError, type BloomEventListener } from '../common/index.js';
import { handledBy } from './on-bloom-event.decorator.js';
import { handlerOfNoSingleton } from './module.messages.js';

type Handler = (event: Parameters<BloomEventListener>[0]) => unknown;

/** Finds the methods with `@OnBloomEvent` of all providers and controllers. */
export class EventHandlers {
  constructor(
    private readonly discovery: DiscoveryService,
    private readonly scanner: MetadataScanner,
  ) {}

  /**
   * To be called when every provider has been created.
   *
   * @throws {BloomConfigError} for a handler of a provider that is request-scoped or transient: an event belongs to no request.
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
