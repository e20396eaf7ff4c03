import { type BloomId, toIdKey } from 'nestjs-bloom/filter';
import { namedNormalizer, NORMALIZERS } from 'nestjs-bloom/internal';
import { setTimeout as delay } from 'node:timers/promises';
import { type Application, filterOf } from './application.js';
import { checkFilter } from './inspection/index.js';
import { EXIT, usageError } from './cli-error.js';
import type { RedisSession } from './redis-session.js';
import type { Terminal } from './terminal.js';
import { notHex, noSuchNormalize } from './cli.messages.js';

export interface CheckWords {
  readonly key?: string;
  readonly normalize?: string;
  readonly hex?: boolean;
  readonly json?: boolean;
}

/** The verdict that a filter gives for an id, and what it rests on. */
export async function check(
  terminal: Terminal,
  { store }: RedisSession,
  name: string,
  text: string,
  words: CheckWords,
): Promise<number> {
  const id = readId(text, words);
  const found = await checkFilter({ ...store.access, name, key: words.key }, toIdKey(id));
  printVerdict(terminal, { ...found, name, id: shown(id), json: words.json, asked: askedAs(words) });
  return found.verdict === 'unknown' ? EXIT.failed : EXIT.fine;
}

/** The same, as the application itself asks: with its normalize, its layout and its owner. */
export async function checkInApplication(
  terminal: Terminal,
  application: Application,
  name: string,
  text: string,
  words: CheckWords,
): Promise<number> {
  const filter = filterOf(application, name);
  const id = readId(text, words);
  // The first lookup of a process also makes the connection: it may be too late.
  const { state, store } = await filter.info();
  let verdict = await filter.check(id);
  for (let attempt = 1; verdict === 'unknown' && state === 'ready' && attempt < 5; attempt++) {
    await delay(100);
    verdict = await filter.check(id);
  }
  const reason = `The filter is ${state}, in ${store === 'memory' ? 'the memory of this process alone' : store}.`;
  const asked = 'Asked as the application asks, with its normalize and its layout.';
  printVerdict(terminal, { name, id: shown(id), verdict, reason, asked, json: words.json });
  return verdict === 'unknown' ? EXIT.failed : EXIT.fine;
}

function printVerdict(
  terminal: Terminal,
  {
    name,
    id,
    verdict,
    reason,
    asked,
    json,
  }: { name: string; id: string; verdict: string; reason: string; asked: string; json: boolean | undefined },
): void {
  if (json) return terminal.json({ filter: name, id, verdict, reason, asked });
  const colour = verdict === 'unknown' ? 'yellow' : 'bold';
  terminal.print(`${name} '${id}': ${terminal.styled(colour, verdict)}`);
  terminal.print(`  ${reason}`);
  terminal.print(`  ${terminal.styled('dim', asked)}`);
}

function readId(text: string, { normalize, hex }: CheckWords): BloomId {
  if (hex && !/^([\da-f]{2})+$/i.test(text)) throw usageError(notHex(text));
  const id = hex ? new Uint8Array(Buffer.from(text, 'hex')) : text;
  if (normalize === undefined) return id;
  const normalized = namedNormalizer(normalize);
  if (!normalized) throw usageError(noSuchNormalize(Object.keys(NORMALIZERS).join(', '), normalize));
  return normalized(id);
}

function shown(id: BloomId): string {
  return id instanceof Uint8Array ? `0x${Buffer.from(id).toString('hex')}` : String(id);
}

function askedAs({ normalize }: CheckWords): string {
  return normalize === undefined
    ? 'Asked as a process without normalize asks. If the filter has one, give --normalize, or --app to ask as the application does.'
    : `Asked with normalize: ${normalize}.`;
}
