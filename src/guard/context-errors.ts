import {
  BadRequestException,
  type HttpException,
  NotFoundException,
  ServiceUnavailableException,
} from '@nestjs/common';
import type { CallContext } from './call-context.js';

type ErrorClass = new (error: string | object) => Error;

/** The packages are loaded only for a handler that their own decorators have marked. */
const CLASSES = {
  ws: { from: '@nestjs/websockets', name: 'WsException' },
  rpc: { from: '@nestjs/microservices', name: 'RpcException' },
} as const;

/** The error by which Nest answers a client of this context that there is no such thing. */
export function notFoundError(context: CallContext, method: string): Error | Promise<Error> {
  return errorOf(context, notFound(method));
}

/**
 * In place of the calls that led to the guard, its stack names the guarded method: an attack brings an error for each request, and to collect
 * those calls takes a tenth of what a request takes.
 */
function notFound(method: string): NotFoundException {
  const limit = Error.stackTraceLimit;
  if (!isStackLimitWritable()) return new NotFoundException();
  Error.stackTraceLimit = 0;
  let error: NotFoundException;
  try {
    error = new NotFoundException();
  } finally {
    Error.stackTraceLimit = limit;
  }
  if (limit > 0) error.stack = `${error.name}: ${error.message}\n    at @BloomGuarded on ${method}`;
  return error;
}

/** Not with `--frozen-intrinsics`, for example. */
function isStackLimitWritable(): boolean {
  return Object.getOwnPropertyDescriptor(Error, 'stackTraceLimit')?.writable === true;
}

/** The error by which Nest answers a client of this context that what it has sent cannot be used. The cause is not sent. */
export function badRequestError(context: CallContext, cause: unknown): Error | Promise<Error> {
  return errorOf(context, new BadRequestException(undefined, { cause }));
}

/** The error by which Nest answers a client of this context that it may try again later. */
export function unavailableError(context: CallContext, cause?: unknown): Error | Promise<Error> {
  return errorOf(context, new ServiceUnavailableException(undefined, { cause }));
}

function errorOf(context: CallContext, http: HttpException): Error | Promise<Error> {
  if (context !== 'ws' && context !== 'rpc') return http;
  return classOf(context).then((Class) => {
    if (!Class) return http;
    const { message } = http;
    const error = new Class(context === 'ws' ? message : { statusCode: http.getStatus(), message });
    return Object.assign(error, http.cause !== undefined && { cause: http.cause });
  });
}

async function classOf(context: keyof typeof CLASSES): Promise<ErrorClass | undefined> {
  const { name } = CLASSES[context];
  // A variable: the package is optional, and its types are not needed.
  const from: string = CLASSES[context].from;
  try {
    const loaded = (await import(from)) as Record<string, unknown> & { default?: Record<string, unknown> };
    const found = loaded[name] ?? loaded.default?.[name];
    return typeof found === 'function' ? (found as ErrorClass) : undefined;
  } catch {
    return undefined;
  }
}
