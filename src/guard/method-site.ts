import 'reflect-metadata';
import { METHOD_METADATA, PATH_METADATA } from '@nestjs/common/constants.js';

/** Where a method decorator was put. */
export interface MethodSite {
  readonly target: object;
  readonly key: string | symbol;
  readonly descriptor: PropertyDescriptor;
}

/** `ProductController.findOne` */
export function methodName({ target, key }: MethodSite): string {
  const owner = typeof target === 'function' ? target : target.constructor;
  return `${owner.name}.${String(key)}`;
}

/** Whether the function is a route handler of Nest. */
export function isRouteHandler(handler: unknown): boolean {
  return (
    typeof handler === 'function' &&
    Reflect.hasMetadata(PATH_METADATA, handler) &&
    Reflect.hasMetadata(METHOD_METADATA, handler)
  );
}
