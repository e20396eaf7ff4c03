import type { Attributes } from '@opentelemetry/api';
import type { Labels } from 'nestjs-bloom/integrations';

/** The name of the meter, and the namespace of metrics and attributes. */
export const SCOPE = 'nestjs-bloom';
export const NAMESPACE = 'bloom.';

export function attributesOf(labels: Labels): Attributes {
  return Object.fromEntries(Object.entries(labels).map(([label, value]) => [NAMESPACE + label, value]));
}
