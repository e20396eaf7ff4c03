import type { BloomEventListener, StagePlan } from 'nestjs-bloom/store';
import type { ForeignAdds } from '../../formats/index.js';
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
