import { Redis } from 'ioredis';

// Another client of the server: asks for one small value after the other and notes how long it waits.
const client = new Redis(process.argv[2]!);
let waits: number[] = [];
let stopped = true;

async function ask(): Promise<void> {
  while (!stopped) {
    const start = performance.now();
    await client.get('some-value');
    waits.push(performance.now() - start);
  }
}

process.on('message', (message) => {
  if (message === 'start') {
    waits = [];
    stopped = false;
    void ask();
    process.send!({});
  } else {
    stopped = true;
    waits.sort((a, b) => a - b);
    process.send!({ longestMs: waits.at(-1), p999Ms: waits[Math.floor(waits.length * 0.999)] });
  }
});
process.on('disconnect', () => process.exit());
await client.set('some-value', '1');
process.send!({ ready: true });
