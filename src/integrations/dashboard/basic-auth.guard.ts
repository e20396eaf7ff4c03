import { type CanActivate, type ExecutionContext, Injectable, UnauthorizedException } from '@nestjs/common';
import { basicUserOf, CHALLENGE } from './basic-auth.js';
import { DashboardSettings } from './dashboard-settings.js';
import type { PlatformRequest } from './exchange.js';

/** Lets a request through that has the user and the password; any request where the options have none. */
@Injectable()
export class BasicAuthGuard implements CanActivate {
  constructor(private readonly settings: DashboardSettings) {}

  canActivate(context: ExecutionContext): boolean {
    const { user } = this.settings;
    if (user === undefined) return true;
    const http = context.switchToHttp();
    if (basicUserOf(http.getRequest<PlatformRequest>(), user) !== undefined) return true;
    http
      .getResponse<{ header(name: string, value: string): unknown }>()
      .header('www-authenticate', CHALLENGE);
    throw new UnauthorizedException();
  }
}
