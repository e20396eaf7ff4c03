import { type RedisConnection, Script } from 'nestjs-bloom/internal';
import type { InspectedKind } from './found-generation.js';
import { fieldIn, type InspectorOptions, kindsOf } from './filter-inspector.js';

/** What a key holds, as far as it takes to tell who wrote it. */
export interface HeldValue {
  readonly type: string;
  readonly expires: boolean;
  /** Length of a string in bytes, else 0. */
  readonly bytes: number;
  /** Beginning of a string. */
  readonly head: Buffer;
  /** Fields and values of a hash, or members of a sorted set. */
  readonly items: readonly string[];
}

/** More fields than any hash of this library but for the metadata has. */
const MOST_FIELDS = 2000;

const LOOK = new Script(
  'look',
  `local key, head, items = KEYS[1], '', {}
local type = redis.call('TYPE', key).ok
if type == 'string' then head = redis.call('GETRANGE', key, 0, 63) end
if type == 'hash' and redis.call('HLEN', key) <= ${MOST_FIELDS} then items = redis.call('HGETALL', key) end
if type == 'zset' then items = redis.call('ZRANGE', key, 0, 15) end
return { type, redis.call('PTTL', key), type == 'string' and redis.call('STRLEN', key) or 0, head, items }`,
);

export async function heldValue(connection: RedisConnection, key: string): Promise<HeldValue> {
  const reply = (await connection.run(LOOK, [key], [])) as [Buffer, number, number, Buffer, Buffer[]];
  const [type, lifeMs, bytes, head, items] = reply;
  return { type: String(type), expires: lifeMs >= 0, bytes, head, items: items.map(String) };
}

/** Tells which keys beside the metadata of one filter, or of one part, this library has written. */
export class OwnedKeys {
  private constructor(private readonly claims: readonly (Claim | undefined)[]) {}

  static async of(options: InspectorOptions): Promise<OwnedKeys> {
    return new OwnedKeys(await Promise.all(kindsOf(options).map((kind) => claimOf(options, kind))));
  }

  /** @param rest of its name, behind that of the filter */
  has(key: string, rest: string, value: HeldValue): boolean {
    const [, family] = /^(bf|cf)(?::|$)/.exec(rest) ?? [];
    const claim = this.claims[family === undefined ? 0 : FAMILIES.indexOf(family)];
    if (!claim) return false;
    if (key === claim.meta) return true;
    const named = claim.named.get(key);
    if (named) return named(value);
    const inner = rest.replace(/^(bf|cf|layer):nestjs-bloom:/, '');
    return FORMS.find(([form]) => form.test(inner))?.[1](value) ?? false;
  }
}

/** In the order of the kinds of filters; the first of them has no such word in its keys. */
const FAMILIES = ['', 'bf', 'cf'];
/** Length of a bucket of the negative cache. */
const BUCKET_BYTES = 108;

type Holds = (value: HeldValue) => boolean;

/** What metadata that this version can read say about other keys. */
interface Claim {
  readonly meta: string;
  readonly named: ReadonlyMap<string, Holds>;
}

async function claimOf({ scripts }: InspectorOptions, kind: InspectedKind): Promise<Claim | undefined> {
  const { meta } = kind.keys;
  const { type, fields } = await scripts.describe(meta, false);
  const found = kind.read(type, fields);
  if (found.kind !== 'known') return undefined;
  const named = new Map<string, Holds>();
  for (const { key, bytes, tag } of found.live?.keys ?? [])
    named.set(key, tag === undefined ? isOfModule : beginning(tag, bytes!));
  const [, tag, buckets] = /^([0-9a-f]{8}) \S+ (\d+) /.exec(fieldIn(fields, 'denials') ?? '') ?? [];
  if (tag !== undefined)
    named.set(meta.replace(/meta$/, 'denials'), beginning(tag, Number(buckets) * BUCKET_BYTES));
  return { meta, named };
}

/** @param tag in hexadecimal digits, which stands in front, in the order of a small-endian number */
function beginning(tag: string, length: number): Holds {
  return ({ type, bytes, head }) =>
    type === 'string' && bytes === length && head.readUInt32LE() === Number.parseInt(tag, 16);
}

const isOfModule: Holds = ({ type }) => type.startsWith('MBbloom') || type === 'set';

const text =
  (form: RegExp): Holds =>
  ({ type, head }) =>
    type === 'string' && form.test(head.toString('latin1'));

const fields =
  (...names: readonly string[]): Holds =>
  ({ type, items }) =>
    type === 'hash' && items.length > 0 && items.every((one, i) => i % 2 === 1 || names.includes(one));

const values =
  (form: RegExp): Holds =>
  ({ type, items }) =>
    type === 'hash' && items.length > 0 && items.every((one, i) => i % 2 === 0 || form.test(one));

const expiring =
  (holds: Holds): Holds =>
  (value) =>
    value.expires && holds(value);

const FACTS_OF_BUILDS = ['running', 'began', 'occasion', 'live', 'failures', 'due', 'wait', 'able'];
const FACTS_OF_CONTESTS = ['distrusted', 'distrustWait', 'contested', 'contestedAt', 'contestWait'];

/** What stands under names that are fixed, or have a random word of this library. */
const FORMS: readonly (readonly [rest: RegExp, holds: Holds])[] = [
  [/^lease$/, expiring(text(/^[0-9a-f]{16}(@\w*)?$/))],
  [/^builds$/, fields(...FACTS_OF_BUILDS, ...FACTS_OF_CONTESTS)],
  [/^epoch$/, text(/^[0-9a-f]{16} (ending|ended) /)],
  [
    /^readers$/,
    expiring(({ type, items }) => type === 'zset' && items.every((one) => /^(#|[ae]:)/.test(one))),
  ],
  [/^feed$/, expiring(({ type }) => type === 'stream')],
  [/^outside(:[0-9a-f]{8})?$/, fields('mark', 'newest', 'position', 'gaps', 'doubt', 'at')],
  [/^outside:holder$/, expiring(text(/./))],
  [/^instances$/, expiring(values(/^\d+ \d+$/))],
  [/^instance:[0-9a-f]{16}$/, expiring(text(/^\{/))],
  [/^mode$/, text(/^\d+ (-|on|shadow|off) /)],
  [/^running$/, expiring(fields('run', 'text', 'stop'))],
  [/^rebuilds$/, expiring(values(/^\d+ \{/))],
  // The rest expires unless it has gone live, and then the metadata name it.
  [
    /^(next|old):[0-9a-f]{16}(:(\d+|scratch|journal))?$/,
    expiring(({ type }) => /^(string|list|MBbloom.*)$/.test(type)),
  ],
  [/^layer:[0-9a-f]{16}:\d+$/, expiring(({ type }) => type === 'string')],
  [/^cf:[0-9a-f]{16}(:kept)?$/, expiring(isOfModule)],
  [/^cf:removal:[0-9a-f]{16}$/, expiring(({ type }) => type === 'string')],
];
