import { expect, it } from '@jest/globals';
import { runRebuild } from '../../src/rebuild/index.js';
import { MemoryStore } from '../../src/store/memory/index.js';
import { rebuildJob, sourceOf } from '../support/rebuild-job.js';
import { describeRebuild } from './contract.js';
import { openOptions } from '../support/open-options.js';

const open = async () => new MemoryStore().open(openOptions());

describeRebuild('MemoryStore', open);

it('The first build in the memory of a process does not drain: nobody has added anything', async () => {
  const job = rebuildJob(await open(), sourceOf('a'), { drainMs: 3_600_000 });
  expect((await runRebuild(job)).outcome).toBe('published');
});
