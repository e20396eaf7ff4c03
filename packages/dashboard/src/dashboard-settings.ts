import type { BloomDashboardFactoryOptions, BloomDashboardUser } from './dashboard-options.js';
import type { BloomDashboardAction, BloomDashboardSeries } from './dashboard-options.js';
import { basicUserOf } from './basic-auth.js';
import type { PlatformRequest } from './exchange.js';
import { hostNameOf } from './forgery.js';

const MAX_VIEWERS = 20;
const MAX_NAME = 100;
const NOBODY = 'dashboard';

/** The options of a dashboard with their defaults. Its class is the token of the provider. */
export class DashboardSettings {
  readonly user: BloomDashboardUser | undefined;
  readonly series: readonly BloomDashboardSeries[];
  readonly actions: readonly BloomDashboardAction[];
  readonly maxViewers: number;
  /** Names under which the dashboard answers beside addresses; undefined: all. */
  readonly hosts: readonly string[] | undefined;

  constructor(
    private readonly options: BloomDashboardFactoryOptions,
    { insecure }: { readonly insecure: boolean },
  ) {
    const { auth, series = [], actions = [], maxViewers = MAX_VIEWERS, hosts } = options;
    this.user = auth;
    this.series = series;
    this.actions = actions;
    this.maxViewers = maxViewers;
    this.hosts = (hosts ?? (insecure ? [] : undefined))?.map((host) => hostNameOf(host)!);
  }

  /** Whether the request may act. What the function of the user throws forbids it. */
  async mayAct(request: PlatformRequest): Promise<boolean> {
    const { readOnly = false } = this.options;
    if (typeof readOnly === 'boolean') return !readOnly;
    // Anything but a plain false forbids: a function that forgets to return lets nobody act.
    return (await readOnly(request)) === false;
  }

  /** The user that acts, for logs and for other instances. */
  whoActs(request: PlatformRequest): string {
    const named = this.options.who?.(request) ?? (this.user && basicUserOf(request, this.user));
    return typeof named === 'string' && named.trim() !== '' ? named.slice(0, MAX_NAME) : NOBODY;
  }
}
