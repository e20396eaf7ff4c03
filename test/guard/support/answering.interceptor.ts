import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import { type Observable, of } from 'rxjs';

/** Answers everything, as a CacheInterceptor does on a hit. */
@Injectable()
export class AnsweringInterceptor implements NestInterceptor {
  intercept(_context: ExecutionContext, _next: CallHandler): Observable<unknown> {
    return of('cached');
  }
}
