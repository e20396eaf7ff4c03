import { BloomRebuildError } from '../common/index.js';

/** Some parts of a filter could not be rebuilt, and the others have a new generation. */
export class PartlyRebuiltError extends BloomRebuildError {}
