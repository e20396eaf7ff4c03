import { setTimeout as delay } from 'node:timers/promises';
import { systemClock } from '../../../src/common/index.js';
import { toIdKey } from '../../../src/filter/index.js';
import { type BloomIdSource, runRebuild } from '../../../src/rebuild/index.js';
import { RedisStore } from '../../../src/store/redis/index.js';
import type { FromProcess, ProcessOptions, Question, Tally, ToProcess } from './process-protocol.js';
import { PATIENT } from '../patience.js';
import { removable } from '../abilities.js';
import { forkedOptions } from '../forked-program.js';
import { layoutOf } from '../../../packages/interop/test/support/layout-recipe.js';

// A process of its own that adds ids, looks up those of all processes, removes some of its own, and rebuilds.

/** Ids of one lookup. */
const BULK = 20;
/** A row is ended long before its id may no longer be removed. */
const PROMPT_SHARE = 0.5;

const options = forkedOptions<ProcessOptions>();
const { redisUrl, filter: name, label, layout, plan, hasSource, drainMs } = options;
const common = { name, emit: () => {}, clock: systemClock };

const store = await RedisStore.connect({
  redis: redisUrl,
  keyPrefix: 'bloom',
  trustAfterFailover: false,
  ...PATIENT,
  emit: () => {},
});
const filter = store.open({ ...common, layout: layoutOf(layout), plan, hasSource, drainMs });

const known: string[] = [];
const places = new Map<string, number>();
const answers = new Map<number, (rows: readonly string[]) => void>();
const wrong = new Set<string>();
/** Resolved with each lookup that ends: what was forgotten before it began is not asked for after it. */
let lookUp: Promise<unknown> = Promise.resolve();
let running = true;
let asked = 0;
let [lookUps, absents, adds, refusedAdds, removals, rebuilds] = [0, 0, 0, 0, 0, 0];

process.on('message', (message: ToProcess) => {
  switch (message.type) {
    case 'start':
      void run();
      return;
    case 'answer':
      answers.get(message.number)?.(message.rows);
      answers.delete(message.number);
      return;
    case 'learn':
      places.set(message.id, known.push(message.id) - 1);
      return;
    case 'forget':
      forget(message.id);
      void lookUp.then(() => tell({ type: 'forgot', id: message.id }));
      return;
    case 'stop':
      running = false;
  }
});
tell({ type: 'ready' });

async function run(): Promise<void> {
  const telling = setInterval(() => {
    tell({ type: 'counts', counts: { lookUps, absents, adds, removals, rebuilds } });
  }, 100);
  await Promise.all([addAndRemove(), look(), rebuild()]);
  clearInterval(telling);
  const tally: Tally = { wrong: [...wrong], lookUps, absents, adds, refusedAdds, removals, rebuilds };
  tell({ type: 'ended', tally });
  await store.close();
  process.disconnect();
}

async function addAndRemove(): Promise<void> {
  for (let i = 0; running; i++, await delay(1)) {
    const id = `${label}-${i}`;
    await ask({ type: 'make', id });
    const isAdded = await succeeds(filter.add([id]));
    if (isAdded) await ask({ type: 'added', id });
    if (isAdded) adds++;
    else refusedAdds++;
    if (isAdded && options.removes && i % 2 === 0) await remove(id);
  }
}

async function remove(id: string): Promise<void> {
  const since = performance.now();
  await ask({ type: 'end', id });
  if (performance.now() - since > PROMPT_SHARE * drainMs) return;
  const [isRemoved] =
    (await removable(filter)
      .remove([id])
      .catch(() => undefined)) ?? [];
  if (isRemoved) removals++;
}

async function look(): Promise<void> {
  for (; running; await delay(1)) {
    if (known.length === 0) continue;
    // The newest ones most of all.
    const ids = Array.from({ length: BULK }, () => known[Math.floor(Math.random() ** 0.5 * known.length)]!);
    const checking = Promise.all([filter.check(ids), filter.check([ids[0]!])]);
    lookUp = checking;
    const [many, one] = await checking;
    [...many, ...one].forEach((verdict, i) => verdict === 'absent' && wrong.add(ids[i % BULK]!));
    lookUps += BULK + 1;
    const [none] = await filter.check([`none-${label}-${lookUps}`]);
    if (none === 'absent') absents++;
  }
}

async function rebuild(): Promise<void> {
  const { rebuildsEveryMs } = options;
  if (rebuildsEveryMs === undefined) return;
  const source: BloomIdSource = {
    async *ids() {
      const rows = await ask({ type: 'rows' });
      for (let at = 0; at < rows.length; at += 100) {
        yield rows.slice(at, at + 100);
        await delay(1);
      }
    },
  };
  while (running) {
    const report = await runRebuild({
      ...common,
      ...plan,
      store: filter,
      source,
      toKey: toIdKey,
      drainMs: 0,
      minRatio: 0,
      leaseMs: 2000,
      stallMs: 10_000,
    }).catch(() => undefined);
    if (report?.outcome === 'published') rebuilds++;
    await delay(rebuildsEveryMs);
  }
}

function ask(question: Question): Promise<readonly string[]> {
  const number = ++asked;
  return new Promise((resolve) => {
    answers.set(number, resolve);
    tell({ type: 'asks', number, question });
  });
}

function forget(id: string): void {
  const place = places.get(id);
  if (place === undefined) return;
  const last = known.pop()!;
  places.delete(id);
  if (last === id) return;
  known[place] = last;
  places.set(last, place);
}

async function succeeds(promise: Promise<unknown>): Promise<boolean> {
  return promise.then(
    () => true,
    () => false,
  );
}

function tell(message: FromProcess): void {
  process.send!(message);
}
