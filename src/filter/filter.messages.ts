import { printed } from '../common/index.js';

export const wrongInteger = (name: string, min: number, max: number, value: unknown) =>
  `Expected ${name} to be an integer from ${min} to ${max}, got ${printed(value)}.`;

export const wrongErrorRate = (errorRate: unknown) =>
  `Expected errorRate to be above 0 and below 1, got ${printed(errorRate)}.`;

export const wrongMaxIdBytes = (mostBytes: number, maxIdBytes: unknown) =>
  `Expected maxIdBytes to be an integer from 1 to ${mostBytes}, got ${printed(maxIdBytes)}.`;

export const ROUNDED =
  'JavaScript has rounded this integer. Have the driver give integers of 64 bits as texts or bigints: supportBigNumbers and bigNumberStrings of mysql2.';

export const notAnId = (got: string, isRounded: boolean) =>
  `Expected an id (a non-empty string, a safe integer, a bigint or a non-empty Uint8Array), got ${got}. ` +
  (isRounded
    ? ROUNDED
    : 'Pass the id itself, or say where it is by the option id: the name of a property, or a function that returns it.');

export const wrongScope = (got: unknown) =>
  `Expected a scope (a non-empty string, a safe integer or a bigint), got ${printed(got)}. Name the tenant.`;

export const notScoped = (filter: string) =>
  `Filter '${filter}': expected an id with its scope, since the filter has scoped: true, got one without. Pass scopedId(scope, id), or set scope of the decorator or source.`;

export const scopeOfUnscoped = (filter: string, by: string) =>
  `Filter '${filter}': expected scoped: true with the option scope of ${by}, got none. Add it, or remove scope.`;

export const idTooLong = (maxIdBytes: number) =>
  `Expected an id of at most ${maxIdBytes} bytes, got a longer one. Raise maxIdBytes of the filter and rebuild it, or ` +
  'shorten the id with the option normalize.';

export const planOfOtherLayout = (layout: unknown) =>
  `Expected planFilter() to be called without a layout, since it plans the layout 'blocked', got ${printed(layout)}. Every other layout ` +
  'plans its own size: call plan({ capacity, errorRate }) on what @nestjs-bloom/interop or @nestjs-bloom/interop/scaling exports for it.';

export const notAPlan = (plan: unknown) =>
  `Expected a plan of planFilter(), got ${printed(plan)}. A plan of another layout goes to expectedErrorRate() of that layout.`;

export const wrongCapacity = (capacity: unknown) =>
  `Expected capacity to be a positive integer (the number of ids to hold), got ${printed(capacity)}.`;

export const wrongErrorRateToPlan = (min: number, max: number, errorRate: unknown) =>
  `Expected errorRate to be from ${min} to ${max} (0.001 lets one absent id in a thousand ` +
  `through), got ${printed(errorRate)}.`;

export const tooLarge = (capacity: number, errorRate: number, bytes: number, mostBytes: number) =>
  `A filter of ${capacity} ids at an error rate of ${errorRate} needs ${bytes} bytes, the limit is ` +
  `${mostBytes}. Lower the capacity, raise the error rate, or split the ids over several filters.`;
