import {
  type CanActivate,
  type DynamicModule,
  Inject,
  Logger,
  Module,
  type NestModule,
  type Type,
} from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { BloomConfigError, type BloomService } from 'nestjs-bloom';
import { BLOOM_SERVICE, withHelp } from 'nestjs-bloom/integrations';
import { controllerAt, servePageOnFastify } from './dashboard.controller.js';
import { NO_BLOOM_MODULE, openToEverybody } from './dashboard.messages.js';
import type {
  BloomDashboardAsyncOptions,
  BloomDashboardFactoryOptions,
  BloomDashboardGuards,
  BloomDashboardMount,
  BloomDashboardOptions,
  BloomDashboardUser,
} from './dashboard-options.js';
import {
  checkDashboardAsyncOptions,
  checkDashboardOptions,
  checkedFactoryOptions,
  isGuards,
} from './dashboard-options-check.js';
import { DashboardSettings } from './dashboard-settings.js';
import { Dashboard } from './dashboard.js';

const PATH = '/bloom';
const CONTROLLER = Symbol('nestjs-bloom dashboard controller');

/**
 * One page that shows the filters of the application live, and lets those with the right rebuild them and set
 * their mode. Import it beside `BloomModule.forRoot()`.
 *
 * @example
 * imports: [
 *   BloomModule.forRoot({ redis: 'redis://localhost:6379' }),
 *   BloomDashboardModule.forRoot({ path: '/bloom', auth: AdminGuard }),
 * ]
 */
@Module({})
export class BloomDashboardModule implements NestModule {
  /** @internal */
  constructor(
    private readonly host: HttpAdapterHost,
    @Inject(CONTROLLER) private readonly controller: Type,
  ) {}

  /** @throws {BloomConfigError} without `auth`, unless `insecure`, and for options that cannot work. */
  static forRoot(options: BloomDashboardOptions): DynamicModule {
    checkDashboardOptions(options);
    const {
      auth,
      path: _path,
      insecure: _insecure,
      imports: _imports,
      decorators: _decorators,
      ...rest
    } = options;
    const guards = isGuards(auth) ? (auth as BloomDashboardGuards) : undefined;
    const made: BloomDashboardFactoryOptions = guards ? rest : { ...rest, auth: auth as BloomDashboardUser };
    return mounted(options, guards, { useFactory: () => made });
  }

  /**
   * For options that need providers, such as a password from a configuration. `path`, guard classes and
   * `insecure` stand beside the factory.
   */
  static forRootAsync(options: BloomDashboardAsyncOptions): DynamicModule {
    checkDashboardAsyncOptions(options);
    const { useFactory, inject = [], auth, insecure } = options;
    const made = async (...injected: unknown[]) =>
      checkedFactoryOptions(await useFactory(...injected), { auth, insecure });
    return mounted(options, auth, { inject, useFactory: made });
  }

  /** Called by Nest. */
  configure(): void {
    if (this.host.httpAdapter?.getType() === 'fastify') servePageOnFastify(this.controller);
  }
}

function mounted(
  { path = PATH, insecure = false, imports = [], decorators = [] }: BloomDashboardMount,
  auth: BloomDashboardGuards | undefined,
  { useFactory, inject = [] }: Pick<BloomDashboardAsyncOptions, 'useFactory' | 'inject'>,
): DynamicModule {
  const guards = (auth === undefined ? [] : [auth].flat()) as Type<CanActivate>[];
  const controller = controllerAt({ path, guards, decorators });
  return {
    module: BloomDashboardModule,
    imports,
    controllers: [controller],
    providers: [
      {
        provide: DashboardSettings,
        inject,
        useFactory: async (...injected: unknown[]) =>
          new DashboardSettings(await useFactory(...injected), { insecure }),
      },
      { provide: CONTROLLER, useValue: controller },
      {
        provide: Dashboard,
        inject: [DashboardSettings, { token: BLOOM_SERVICE, optional: true }],
        useFactory: (settings: DashboardSettings, service?: BloomService) => {
          if (!service) throw new BloomConfigError(NO_BLOOM_MODULE);
          if (insecure) new Logger('Bloom').warn(withHelp(openToEverybody(path)));
          return new Dashboard(settings, service);
        },
      },
    ],
  };
}
