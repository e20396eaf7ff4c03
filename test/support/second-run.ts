import { jest } from '@jest/globals';

// In CI a test that fails runs once more at the end of its file, and the run names it: a machine that stands
// still for seconds says nothing about the library. What judges the promise does not run again: models,
// explorer, replay and fault table.
if (process.env['CI']) jest.retryTimes(1, { logErrorsBeforeRetry: true });
