import type { BloomEventListener } from '../../../common/index.js';
import type { ForeignAdds } from '../../../filter/peers/index.js';
import type { StagePlan } from '../../index.js';
import type { BitmapFormat } from './bitmap-format.js';
import type { BitmapScripts } from './bitmap-scripts.js';

/** What driver, reader and staging of one bitmap work with. */
export interface BitmapContext {
  readonly name: string;
  readonly emit: BloomEventListener;
  readonly format: BitmapFormat;
  readonly scripts: BitmapScripts;
  /** What the filter is planned for in this process. */
  readonly plan: StagePlan;
  readonly foreignAdds: ForeignAdds;
}
