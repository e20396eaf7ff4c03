import {
  applyDecorators,
  type CanActivate,
  Controller,
  Get,
  Post,
  Req,
  Res,
  type Type,
  UseGuards,
  VERSION_NEUTRAL,
} from '@nestjs/common';
import { DashboardGuard } from './dashboard.guard.js';
import { Dashboard } from './dashboard.js';
import { pathOf, type PlatformRequest, type PlatformResponse, takeOver } from './exchange.js';

export interface ControllerOptions {
  readonly path: string;
  readonly guards: readonly Type<CanActivate>[];
  readonly decorators: readonly ClassDecorator[];
}

/**
 * A controller at this path. It is one of Nest and no middleware, so that guards of the user get what they
 * get on any route, global ones included. Each handler takes the response over before it answers, so that
 * global interceptors have nothing to change.
 */
export function controllerAt({ path, guards, decorators }: ControllerOptions): Type {
  @Controller({ path, version: VERSION_NEUTRAL })
  @UseGuards(DashboardGuard, ...guards)
  class BloomDashboardController {
    constructor(private readonly dashboard: Dashboard) {}

    @Get('assets/:name')
    asset(@Req() request: PlatformRequest, @Res() response: PlatformResponse): void {
      this.dashboard.sendFile(takeOver(request, response), request.params?.['name'] ?? '');
    }

    @Get('stream')
    async stream(@Req() request: PlatformRequest, @Res() response: PlatformResponse): Promise<void> {
      await this.dashboard.openStream(takeOver(request, response));
    }

    @Post('actions/:name')
    async act(@Req() request: PlatformRequest, @Res() response: PlatformResponse): Promise<void> {
      await this.dashboard.act(takeOver(request, response), request.params?.['name'] ?? '');
    }

    @Get()
    async page(@Req() request: PlatformRequest, @Res() response: PlatformResponse): Promise<void> {
      const asked = pathOf(request);
      const exchange = takeOver(request, response);
      if (asked.endsWith(`/${lastOf(path)}/`)) this.dashboard.sendPage(exchange);
      else if (asked.endsWith(`/${lastOf(path)}`)) this.dashboard.redirect(exchange, `${lastOf(path)}/`);
      else this.dashboard.sendNotFound(exchange);
    }
  }
  applyDecorators(...decorators)(BloomDashboardController);
  return BloomDashboardController;
}

/**
 * Fastify, unlike Express, takes the path with a slash at its end for another one, which only a wildcard
 * matches; and Express spells a wildcard another way. To be called when the platform is known, and before its
 * routes are.
 */
export function servePageOnFastify({ prototype }: Type): void {
  Get(['', '*'])(prototype, 'page', Object.getOwnPropertyDescriptor(prototype, 'page')!);
}

/**
 * The last part of a path. Addresses within the page are relative, so that a proxy may take parts before it
 * away.
 */
function lastOf(path: string): string {
  return path.replace(/\/$/, '').split('/').at(-1)!;
}
