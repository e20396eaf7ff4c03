import { printed } from '../common/index.js';

export const noRootOf = (module: string) =>
  `${module} needs the filters of BloomModule, which is not imported. Import BloomModule.forRoot() in the root module.`;

export const wrongInfoEveryMs = (where: string, got: unknown) =>
  `${where}: expected infoEveryMs to be a number of milliseconds of at least 1,000, got ${printed(got)}.`;
