import { setTimeout as delay } from 'node:timers/promises';
import {
  BloomError,
  BloomOverloadError,
  type BloomEvent,
  type BloomFilter,
  BloomService,
  getBloomFilterToken,
} from 'nestjs-bloom';
import { eventually } from '../../test/support/eventually.js';
import { forkedOptions } from '../../test/support/forked-program.js';
import {
  addedId,
  type AttackAnswers,
  type AttackedOptions,
  type AttackSeen,
  builtId,
  type ToAttacked,
} from './attacked-protocol.js';
import { machineMs } from './copy-reader-protocol.js';
import { FileDatabase } from './file-database.js';
import { FILTER } from './filter-kinds.js';
import { createShop, Shop } from './shop-instance.js';
import { TIMEOUT_MS } from './timings.js';

// An instance of the shop under attack, with the options that it has by default: calls for ids that never
// exist, and beside them adds, and lookups of what all instances add.

const options = forkedOptions<AttackedOptions>();
const { number, instances, replica, built, drainMs, without } = options;

/** Calls for absent ids under way at once. */
const CALLERS = 64;
const ADD_EVERY_MS = 100;
/** Fewer that are let through in a row are chance. */
const STRETCH = 3;
const IDS_PER_SWEEP = 250;
const EVENTS_KEPT = 5;
/** Timers are early by less. */
const SLACK_MS = 10;
/** The default, by which a rebuild has to wait. */
const WRITE_TIMEOUT_MS = 2000;

const seen: { -readonly [Figure in keyof AttackSeen]: AttackSeen[Figure] } = {
  asked: 0,
  letThrough: 0,
  unknown: 0,
  refused: 0,
  leasesLost: 0,
  budgeted: 0,
  lastUnprotectedAt: 0,
};
const acknowledgedAt: number[] = [];
const late: number[] = [];
const absentAt: number[][] = Array.from({ length: instances }, () => []);
const absentBuilt: string[] = [];
const events: string[] = [];
let lookups = 0;
let nobodies = 0;
let rejected = 0;
let callerErrors = 0;
let firstError: string | undefined;
let inRow = 0;
let isOver = false;
let traffic: Promise<unknown> = Promise.resolve();

const table = new FileDatabase(
  options.table,
  Array.from({ length: built }, (_, i) => builtId(i)),
);
const app = await createShop(
  {
    redis: options.redisUrl,
    table,
    kind: 'blocked',
    timeoutMs: TIMEOUT_MS,
    writeTimeoutMs: WRITE_TIMEOUT_MS,
    capacity: options.capacity,
    filter: { replica, errorRate: options.errorRate, negativeCache: false, rebuild: { drainMs } },
    without,
  },
  note,
);
const shop = app.get(Shop);
const filter = app.get<BloomFilter>(getBloomFilterToken(FILTER), { strict: false });
const bloom = app.get(BloomService, { strict: false });

const ANSWERS: {
  [Name in keyof AttackAnswers]: (added: readonly number[]) => Promise<AttackAnswers[Name]>;
} = {
  async begin() {
    // One id may pass by chance.
    let n = 0;
    await eventually('the filter answers', async () => (await filter.check(`asked-${n++}`)) === 'absent');
    if (replica === 'leased' && !without)
      await eventually('the copy is leased', () => bloom.metrics()[0]?.copyLease?.isLeased === true);
    traffic = Promise.all([...Array.from({ length: CALLERS }, attack), add(), look()]);
    return null;
  },
  async seen() {
    const { lookups, budget } = bloom.metrics()[0]!;
    const { unknown } = lookups;
    return {
      ...seen,
      budgeted: (budget?.running ?? 0) + (budget?.waiting ?? 0),
      unknown: Object.values(unknown).reduce((sum, count) => sum + count, 0),
    };
  },
  rebuild: () => filter.rebuild().then(({ outcome }) => outcome, String),
  async end() {
    isOver = true;
    await traffic;
    return { acknowledgedAt, late, rejected };
  },
  async judge(added) {
    const owed: (() => Promise<unknown>)[] = Array.from(
      { length: built },
      (_, i) => () => lookUpBuilt(builtId(i)),
    );
    for (const [adder, count] of added.entries())
      for (let n = 0; n < count; n++) owed.push(() => lookUpAdded(adder, n));
    for (let at = 0; at < owed.length; at += IDS_PER_SWEEP)
      await Promise.all(owed.slice(at, at + IDS_PER_SWEEP).map((lookUp) => lookUp()));
    return { lookups, absentAt, absentBuilt, callerErrors, firstError, events };
  },
};

process.on('message', ({ question, ask, added = [] }: ToAttacked) => {
  void ANSWERS[ask](added).then((answer) => process.send!({ question, answer }));
});
process.on('disconnect', () => process.exit());

async function attack(): Promise<void> {
  while (!isOver) {
    const at = machineMs();
    const passed = !['absent', 'refused'].includes((await find(`nobody-${number}-${++nobodies}`)) as string);
    seen.asked++;
    if (passed) seen.letThrough++;
    inRow = passed ? inRow + 1 : 0;
    if (inRow >= STRETCH) seen.lastUnprotectedAt = Math.max(seen.lastUnprotectedAt, at);
    await nextTurn();
  }
}

/** One id after the other; one that could not be recorded is tried again. */
async function add(): Promise<void> {
  for (let n = 0; !isOver; await delay(ADD_EVERY_MS)) {
    const calledAt = machineMs();
    try {
      await shop.create(addedId(number, n), () => (acknowledgedAt[n] = machineMs()));
      if (machineMs() - calledAt > drainMs - SLACK_MS) late.push(n);
      n++;
    } catch (error) {
      if (error instanceof BloomError) rejected++;
      else noteError(error);
    }
  }
}

/** For each instance the next id that it adds, until its row is visible, and one that it has added before. */
async function look(): Promise<void> {
  const next = absentAt.map(() => 0);
  while (!isOver) {
    const lookUps = next.map(async (n, adder) => {
      const [row] = await Promise.all([
        lookUpAdded(adder, n),
        n > 0 && lookUpAdded(adder, Math.floor(Math.random() * n)),
      ]);
      if (row) next[adder] = n + 1;
    });
    await Promise.all([...lookUps, lookUpBuilt(builtId(Math.floor(Math.random() * built)))]);
    await nextTurn();
  }
}

/** Whether its row is visible. */
async function lookUpAdded(adder: number, n: number): Promise<boolean> {
  const at = machineMs();
  const found = await find(addedId(adder, n));
  const known = absentAt[adder]!;
  while (known.length <= n) known.push(0);
  if (found === 'absent') known[n] = Math.max(known[n]!, at);
  return typeof found === 'object' && found !== null;
}

async function lookUpBuilt(id: string): Promise<void> {
  if ((await find(id)) === 'absent') absentBuilt.push(id);
}

async function find(id: string): Promise<Awaited<ReturnType<Shop['find']>> | 'refused'> {
  lookups++;
  try {
    return await shop.find(id);
  } catch (error) {
    if (error instanceof BloomOverloadError) {
      seen.refused++;
      return 'refused';
    }
    noteError(error);
    return null;
  }
}

/** A socket is read between two calls, as between two requests. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function noteError(error: unknown): void {
  callerErrors++;
  firstError ??= String(error);
}

function note(event: BloomEvent): void {
  if (event.type === 'rebuild-progress') return;
  if (event.type === 'copy-unleased') seen.leasesLost++;
  const said = 'error' in event ? event.error : 'reason' in event ? event.reason : '';
  events.push(`instance ${number}: ${event.type} ${String(said)}`);
  if (events.length > EVENTS_KEPT) events.shift();
}
