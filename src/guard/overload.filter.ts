import { type ArgumentsHost, Catch } from '@nestjs/common';
import { BaseExceptionFilter } from '@nestjs/core';
import { throwError } from 'rxjs';
import { BloomOverloadError } from '../service/index.js';

/**
 * Answers a request with 503 and `Retry-After`. Filters of `@UseFilters` and `useGlobalFilters` go first. One
 * that the root module provides as `APP_FILTER` does not: Nest asks those last that were provided first.
 */
@Catch(BloomOverloadError)
export class OverloadFilter extends BaseExceptionFilter {
  override catch(error: BloomOverloadError, host: ArgumentsHost): unknown {
    const type = host.getType<string>();
    if (type === 'rpc') {
      const { message } = error;
      return throwError(() => ({ status: 'error', statusCode: error.getStatus(), message }));
    }
    // The server of GraphQL answers with the error.
    if (type !== 'http') throw error;
    const { httpAdapter } = this.httpAdapterHost!;
    const response: unknown = host.getArgByIndex(1);
    if (!httpAdapter.isHeadersSent(response))
      httpAdapter.setHeader(response, 'Retry-After', String(error.retryAfterSeconds));
    return super.catch(error, host);
  }
}
