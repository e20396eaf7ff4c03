import 'reflect-metadata';
import { forkedOptions } from '../forked-program.js';
import { PRODUCTS, startShared } from '../shared-application.js';

// An application in a process of its own. It says which events it reports, and begins a rebuild that has no
// end when it is told to.

export interface SharedProcessOptions {
  readonly redis: string;
  readonly leaseMs: number;
}

const { redis, leaseMs } = forkedOptions<SharedProcessOptions>();
const application = await startShared(
  { redis, onEvent: ({ type }) => void process.send?.(type) },
  { rebuild: { onBoot: 'never', drainMs: 0, leaseMs } },
);
process.on('message', () => {
  application.source.close();
  application.bloom
    .filter(PRODUCTS)
    .rebuild()
    .catch(() => {});
});
process.send?.('ready');
