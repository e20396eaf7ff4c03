import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

// So many readers with nothing of the library or of a client around them: each answers a message by the bytes
// of one command on a connection of its own, and the one that is the last in this process says so.
const [readers, prefix, url] = [Number(process.argv[2]), process.argv[3]!, new URL(process.argv[4]!)];
let messages = 0;

function command(...words: string[]): string {
  return `*${words.length}\r\n${words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join('')}`;
}

async function connected(): Promise<Socket> {
  const socket = connect({ port: Number(url.port), host: url.hostname, noDelay: true });
  await once(socket, 'connect');
  return socket;
}

for (let i = 0; i < readers; i++) {
  const [subscribed, answering] = [await connected(), await connected()];
  const answer = command('ZADD', 'readers', 'GT', '1', `reader ${prefix} ${i}`);
  const isLastSaid = answer + command('PUBLISH', 'answered', 'all');
  answering.resume();
  subscribed.write(command('SUBSCRIBE', 'entries'));
  await once(subscribed, 'data');
  // A message of a hundred bytes comes in one piece.
  subscribed.on('data', () => answering.write(++messages % readers === 0 ? isLastSaid : answer));
}
process.on('disconnect', () => process.exit());
process.send!({ ready: true });
