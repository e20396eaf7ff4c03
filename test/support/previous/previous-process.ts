import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { forkProgram } from '../forked-program.js';

interface Reply {
  readonly result?: unknown;
  readonly error?: string;
  readonly events: readonly { readonly type: string; readonly found?: string; readonly supported?: string }[];
}

/** A process with the store of the version before leases, and one filter. */
export interface PreviousProcess {
  do(action: 'add' | 'check' | 'rebuild', ids: readonly string[]): Promise<Reply>;
  close(): void;
}

export async function startPrevious(url: string, name: string): Promise<PreviousProcess> {
  const folder = mkdtempSync(join(tmpdir(), 'bloom-previous-'));
  execFileSync('tar', ['xzf', 'test/support/previous/store.tgz', '-C', folder]);
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  symlinkSync(realpathSync('node_modules'), join(folder, 'node_modules'));
  const child = forkProgram('test/support/previous/process.mjs', { folder, url, name });
  await once(child, 'message');
  return {
    async do(action, ids) {
      const reply = once(child, 'message');
      child.send({ action, ids });
      return ((await reply) as [Reply])[0];
    },
    close() {
      child.disconnect();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
