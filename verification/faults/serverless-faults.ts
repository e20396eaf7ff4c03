import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { forkProgram } from '../../test/support/forked-program.js';
import { TcpProxy } from '../../test/support/tcp-proxy.js';
import { type Fault, fault } from './fault.js';
import { rebuild } from './rebuilds.js';
import { ServerSite } from './redis-site.js';
import type { FromServerless, ServerlessCall, ServerlessOptions } from './serverless-protocol.js';

const PROGRAM = fileURLToPath(new URL('./serverless-process.ts', import.meta.url));
const STOPS = 8;
/** Longer than what is known of a filter may be used. */
const STOPPED_MS = 2500;
const ADDS_PER_STOP = 20;

async function heard(child: ChildProcess): Promise<FromServerless> {
  const ended = once(child, 'exit').then(() => Promise.reject(new Error('The process has ended.')));
  ended.catch(() => {});
  const [message] = (await Promise.race([once(child, 'message'), ended])) as [FromServerless];
  return message;
}

/** A process of `runtime: 'serverless'`, which its platform stops between calls. */
export const serverlessFaults: readonly Fault[] = [
  fault({
    name: 'process stopped between its calls (SIGSTOP), its connection cut meanwhile',
    group: 'redis',
    start: () => ServerSite.start(),
    strike: async ({ site, table, instances, capacity, remark }) => {
      const proxy = await TcpProxy.open(site.server);
      const options: ServerlessOptions = { redisUrl: proxy.url, capacity };
      const child = forkProgram(PROGRAM, options);
      const firsts: string[] = [];
      let longestMs = 0;
      try {
        await heard(child);
        for (let stop = 0; stop < STOPS; stop++) {
          child.kill('SIGSTOP');
          const ids: string[] = [];
          for (let n = 0; n < ADDS_PER_STOP; n++) {
            const id = `frozen-${stop}-${n}`;
            const from = performance.now();
            await instances[2].shop.create(
              id,
              () => (longestMs = Math.max(longestMs, performance.now() - from)),
            );
            ids.push(id);
          }
          // The generation that the process knows is another one by then.
          if (stop % 2 === 1) await rebuild(instances[1]);
          if (stop % 4 > 1) proxy.disconnect();
          await delay(STOPPED_MS);
          const added = `own-${stop}`;
          const call: ServerlessCall = { ids: ids.toReversed(), added };
          child.send(call);
          child.kill('SIGCONT');
          const answer = await heard(child);
          if (answer.type !== 'answered') throw new Error('The process did not answer.');
          if (answer.absent.length > 0) throw new Error(`It denied ${answer.absent.join(', ')}.`);
          firsts.push(answer.first);
          const verdict = await instances[2].filter.check(added);
          if (verdict === 'absent') throw new Error(`Another process denied ${added}.`);
          await table.insert(added);
        }
        remark(`first lookups after a stop: ${firsts.join(', ')}`);
        remark(`an add meanwhile took ${Math.round(longestMs)} ms at most`);
      } finally {
        child.kill('SIGKILL');
        await proxy.close();
      }
    },
  }),
];
