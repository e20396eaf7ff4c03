import { describeError, printed } from 'nestjs-bloom/integrations';

export const NO_AUTH =
  'BloomDashboardModule: expected auth, got none: everyone who opens the dashboard may rebuild filters and turn them off. Give a guard class, ' +
  '{ user, password }, or insecure: true where only you reach the port.';

export const AUTH_AND_INSECURE =
  'BloomDashboardModule: expected auth or insecure: true, got both. Leave insecure out.';

export const NO_BLOOM_MODULE =
  'BloomDashboardModule shows the filters of BloomModule, and BloomModule.forRoot() is not imported. Import it in the root module.';

/** A password is not printed. */
export const wrongDashboardUser = (where: string) =>
  `${where}: expected auth to be a guard class, or { user, password }, both texts that are not empty and user without a colon. If the ` +
  'password comes from the environment, it may not be set.';

/** For who opens the page; the request may come from a site of somebody else. */
export const foreignHost = (host: string) =>
  `This dashboard does not answer under the name ${printed(host)}. Open it under localhost, an address, or a name of its option hosts; or add this name ` +
  "there: hosts: ['bloom.internal'].";

export const twiceNamed = (where: string, option: string, name: string) =>
  `${where}: expected the names of ${option} to differ, got '${name}' twice.`;

export const openToEverybody = (path: string) =>
  `BLOOM_DASHBOARD_OPEN: The dashboard at ${path} is open to everybody who reaches it (insecure: true), who may rebuild filters and turn them off.`;

export const dashboardFailed = (what: string, error: unknown) =>
  `BLOOM_DASHBOARD_FAILED: The dashboard could not ${what}: ${describeError(error)}`;
