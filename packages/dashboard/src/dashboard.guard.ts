import {
  type CanActivate,
  type ExecutionContext,
  ForbiddenException,
  Injectable,
  UnauthorizedException,
} from '@nestjs/common';
import { basicUserOf, CHALLENGE } from './basic-auth.js';
import { DashboardSettings } from './dashboard-settings.js';
import { foreignHost } from './dashboard.messages.js';
import type { PlatformRequest } from './exchange.js';
import { foreignHostOf } from './forgery.js';

/** Checks the name that a request was sent to, and user and password where the options have them. */
@Injectable()
export class DashboardGuard implements CanActivate {
  constructor(private readonly settings: DashboardSettings) {}

  canActivate(context: ExecutionContext): boolean {
    const { user, hosts } = this.settings;
    const http = context.switchToHttp();
    const request = http.getRequest<PlatformRequest>();
    const foreign = hosts && foreignHostOf(request, hosts);
    if (foreign !== undefined) throw new ForbiddenException(foreignHost(foreign));
    if (user === undefined || basicUserOf(request, user) !== undefined) return true;
    http
      .getResponse<{ header(name: string, value: string): unknown }>()
      .header('www-authenticate', CHALLENGE);
    throw new UnauthorizedException();
  }
}
