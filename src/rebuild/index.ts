export type { BloomRebuildOptions, BloomRebuildReport } from './report.js';
export type { BloomIdSource } from './source.js';
