import { metrics } from '@opentelemetry/api';

/** The name of the meter and of the tracer of this package. */
export const SCOPE = 'nestjs-bloom';

export const globalMeter = () => metrics.getMeter(SCOPE);
