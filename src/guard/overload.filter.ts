import { type ArgumentsHost, Catch } from '@nestjs/common';
import { BaseExceptionFilter } from '@nestjs/core';
import { throwError } from 'rxjs';
import { BloomOverloadError } from '../service/index.js';

/** Answers a request with 503 and `Retry-After`; an exception filter of the application goes first. */
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
    httpAdapter.setHeader(host.getArgByIndex(1), 'Retry-After', String(error.retryAfterSeconds));
    return super.catch(error, host);
  }
}
