export { BloomDashboardModule } from './bloom-dashboard.module.js';
export type {
  BloomDashboardAction,
  BloomDashboardActionContext,
  BloomDashboardAsyncOptions,
  BloomDashboardFactoryOptions,
  BloomDashboardGuards,
  BloomDashboardMount,
  BloomDashboardOptions,
  BloomDashboardSeries,
  BloomDashboardUser,
} from './dashboard-options.js';
