import { coverage } from './coverage.js';
import { coveredCopies } from './covered-copies.js';
import { feed } from './feed.js';
import { newestQuestion } from './newest-question.js';
import { ownMarks } from './own-marks.js';
import { leasedCopies } from './leased-copies-systems.js';
import type { Protocol } from './model.js';
import { rebuild } from './rebuild.js';
import { sharedMode } from './shared-mode.js';
import { spelledParts } from './spelled-parts.js';

export const PROTOCOLS: readonly Protocol[] = [
  rebuild,
  spelledParts,
  leasedCopies,
  coverage,
  ownMarks,
  newestQuestion,
  coveredCopies,
  feed,
  sharedMode,
];
