import { HealthIndicatorService } from '@nestjs/terminus';

/** The service of Terminus that makes results. */
export const RESULTS = HealthIndicatorService;
