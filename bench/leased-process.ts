import { readFileSync, writeFileSync } from 'node:fs';
import { Redis } from 'ioredis';
import { RedisStore } from '../src/store/redis/index.js';
import { LocalCopyStore } from '../src/store/local-copy/index.js';
import { openOptions } from '../test/support/open-options.js';
import { PATIENT } from '../test/support/patience.js';

// A process that starts: how long it takes from being connected to answering "absent" by itself, and what
// memory that needs.
const url = process.argv[2]!;
const PIECE_BYTES = 64 * 1024;

/** The largest resident set so far, in bytes. */
function peak(): number {
  return Number(/VmHWM:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))![1]) * 1024;
}

const client = new Redis(url);
const keys = (await client.keys('bench:{products}:*')).filter((key) => /:\d+$/.test(key));
let onLeased = () => {};
const emit = (event: { readonly type: string }) => event.type === 'copy-leased' && onLeased();
const store = new LocalCopyStore(
  await RedisStore.connect({ redis: url, keyPrefix: 'bench', trustAfterFailover: false, ...PATIENT, emit }),
);
const filter = store.open(openOptions({ name: 'products', emit, replica: 'leased', leaseMs: 1000 }));
await client.ping();
globalThis.gc!();
// Forgets the peak of loading and compiling.
writeFileSync('/proc/self/clear_refs', '5');
const before = peak();
const leased = new Promise<void>((resolve) => (onLeased = resolve));
const start = performance.now();
await filter.check(['none']);
await leased;
const startMs = performance.now() - start;
const [verdict] = await filter.check(['none']);
const grownBytes = peak() - before;

const from = performance.now();
let bytes = 0;
for (const key of keys) {
  for (let at = 0, read = PIECE_BYTES; read === PIECE_BYTES; at += PIECE_BYTES) {
    read = (await client.getrangeBuffer(key, at, at + PIECE_BYTES - 1)).length;
    bytes += read;
  }
}
process.send!({ startMs, readMs: performance.now() - from, bytes, grownBytes, verdict });
