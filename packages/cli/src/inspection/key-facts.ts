import type { RedisConnection } from 'nestjs-bloom/internal';

/** Some keys together. */
export interface KeyFacts {
  readonly keys: number;
  readonly bytes: number;
  /** Keys that should be there and are not. */
  readonly missing: number;
  /** Keys that have another length than they must. */
  readonly damaged: number;
  /** The shortest life of those that expire, in milliseconds; undefined: none does. */
  readonly lifeMs: number | undefined;
}

/** What keys are for, by the rest of their names behind that of the filter. */
const PURPOSES: readonly (readonly [rest: RegExp, what: string])[] = [
  [/^(meta|lease|builds|epoch)$/, 'metadata'],
  [/^(\d+|(bf|cf|layer)(:.+)?)$/s, 'generations'],
  [/^(readers|feed|acks)$/, 'leases of copies'],
  [/^denials$/, 'negative cache'],
  [/^outside(:.+)?$/s, 'marks of outside writers'],
  [/^(instances|instance:.+|mode|running|rebuilds)$/s, 'reports of instances'],
  [/^next:/, 'left-over staging'],
  [/^old:/, 'retired generation'],
  [/^probe/, 'probe'],
];

/** What a key of a filter is for; undefined for one that this library has not named. */
export function purposeOf(rest: string): string | undefined {
  const inner = rest.replace(/^(bf|cf|layer):nestjs-bloom:/, '');
  return PURPOSES.find(([pattern]) => pattern.test(inner))?.[1];
}

/** Keys that are asked for at once. */
const AT_ONCE = 256;

/** Lengths and lives of keys; a key that is no string counts 0 bytes. */
export async function sizesOf(
  connection: RedisConnection,
  keys: readonly { readonly key: string; readonly bytes?: number | undefined }[],
): Promise<KeyFacts> {
  const facts = { keys: 0, bytes: 0, missing: 0, damaged: 0, lifeMs: undefined as number | undefined };
  for (let at = 0; at < keys.length; at += AT_ONCE) {
    const some = keys.slice(at, at + AT_ONCE);
    const replies = await Promise.all(
      some.map(({ key }) =>
        Promise.all([
          connection.commandWrite('PTTL', key, []).then(Number),
          connection.commandWrite('STRLEN', key, []).then(Number, notAString),
        ]),
      ),
    );
    replies.forEach(([lifeMs, bytes], i) => {
      const expected = some[i]!.bytes;
      if (lifeMs === -2) return facts.missing++;
      facts.keys++;
      facts.bytes += bytes;
      if (expected !== undefined && bytes !== expected) facts.damaged++;
      if (lifeMs >= 0) facts.lifeMs = Math.min(facts.lifeMs ?? Infinity, lifeMs);
      return undefined;
    });
  }
  return facts;
}

function notAString(error: unknown): number {
  if (String(error).includes('WRONGTYPE')) return 0;
  throw error;
}

export interface KeyWalkOptions {
  /** What the names of all keys of the filter begin with, before a colon. */
  readonly base: string;
  /** Keys that are known. */
  readonly expected: readonly string[];
}

/** Names which the metadata know: one that they do not name is of no use. */
const EXPECTED = ['metadata', 'generations', 'leases of copies'];

/** Finds keys of a filter that its metadata do not name. */
export class KeyWalk {
  constructor(
    private readonly connection: RedisConnection,
    private readonly options: KeyWalkOptions,
  ) {}

  async run(walkMs: number): Promise<{ others: (KeyFacts & { what: string })[]; isComplete: boolean }> {
    const { base, expected } = this.options;
    const known = new Set(expected);
    const groups = new Map<string, string[]>();
    const deadline = performance.now() + walkMs;
    let isComplete = walkMs > 0;
    if (isComplete) {
      for await (const keys of this.connection.scan(`${escapedPattern(base)}:*`)) {
        for (const key of keys) {
          if (known.has(key)) continue;
          known.add(key);
          const what = this.nameOf(key);
          groups.set(what, [...(groups.get(what) ?? []), key]);
        }
        isComplete = performance.now() < deadline;
        if (!isComplete) break;
      }
    }
    const others = [];
    for (const [what, keys] of groups) {
      others.push({
        what,
        ...(await sizesOf(
          this.connection,
          keys.map((key) => ({ key })),
        )),
      });
    }
    return { others, isComplete };
  }

  private nameOf(key: string): string {
    const what = purposeOf(key.slice(this.options.base.length + 1));
    return what === undefined || EXPECTED.includes(what) ? 'other' : what;
  }
}

export function escapedPattern(text: string): string {
  return text.replace(/[\\*?[\]^]/g, String.raw`\$&`);
}
