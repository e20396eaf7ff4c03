import { expect, it } from '@jest/globals';
import { systemClock } from '../../src/common/index.js';
import { runRebuild } from '../../src/rebuild/index.js';
import { MemoryStore } from '../../src/store/memory/index.js';
import { rebuildJob, sourceOf } from '../support/rebuild-job.js';
import { describeRebuild } from './contract.js';

const open = async () => new MemoryStore().open({ name: 'products', emit: () => {}, clock: systemClock });

describeRebuild('MemoryStore', open);

it('The first build in the memory of a process does not drain: nobody has added anything', async () => {
  const job = rebuildJob(await open(), sourceOf('a'), { drainMs: 3_600_000 });
  expect((await runRebuild(job)).outcome).toBe('published');
});
