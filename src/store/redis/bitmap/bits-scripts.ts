import { BloomUnavailableError } from '../../../common/index.js';
import type { ForeignAdds } from '../../../filter/index.js';
import type { CompanionKeys } from '../protocol/companion-keys.js';
import { COMPANION_FORMAT } from '../protocol/companion-meta.js';
import type { RedisConnection } from '../client/redis-connection.js';
import { defineScripts, type Script, type LuaSources } from '../client/script.js';
import type { Refusal } from '../protocol/refusal.js';
import type { FoundString } from './bit-format.js';
import type { PlacedBits } from './placed-bits.js';

/** Life of a string that was moved aside: it is removed long before, unless the process dies. */
const ASIDE_LIFE_MS = 60_000;

export type AdoptReply = 'STALE' | 'MISSING' | 'TYPE' | 'LENGTH' | 'HEAD' | 'SETTINGS' | 'OK';
export type BitRefusal = Refusal | 'TYPE' | 'SETTINGS' | 'LIVE';

type Argument = string | number | Buffer;
const SCRIPTS = [
  'bitsCheck',
  'bitsAdd',
  'bitsProbe',
  'bitsMeasure',
  'bitsAdopt',
  'bitsStage',
  'bitsUnmake',
  'bitsMerge',
  'bitsSwap',
] as const;

/** One typed function for each script on strings of bits. */
export class BitsScripts {
  private readonly script;
  /** The settings' key of the peers, where they keep some. */
  private readonly settingsKeys: readonly string[];

  constructor(
    private readonly connection: RedisConnection,
    private readonly keys: CompanionKeys,
    settingsKey: string | undefined,
    sources?: LuaSources,
  ) {
    this.settingsKeys = settingsKey === undefined ? [] : [settingsKey];
    this.script = defineScripts(SCRIPTS, sources);
  }

  /** A character for each id, `1` when it was found. */
  async check(
    placed: PlacedBits,
    options: { tokenField: string; offsets: readonly number[] },
  ): Promise<'STALE' | 'LOST' | { flags: string }> {
    const { generation, key, layout, length, head, canaries } = placed;
    // Peers keep no settings beside a staged string.
    const [settingsKeys, decisive] = key === this.keys.data ? [this.settingsKeys, placed.decisive] : [[], []];
    const reply = String(
      await this.connection.runRead(
        this.script.bitsCheck,
        [this.keys.meta, key, ...settingsKeys],
        [
          options.tokenField,
          generation.token,
          layout.hashCount,
          length,
          head,
          canaries.length,
          decisive.length,
          ...canaries,
          ...decisive,
          ...options.offsets,
        ],
      ),
    );
    return reply === 'STALE' || reply === 'LOST' ? reply : { flags: reply };
  }

  /** `live` without a token: the string as the peers have it, while no generation is live. */
  async add(
    live: { placed: PlacedBits; records: Buffer } | undefined,
    staged: { placed: PlacedBits; records: Buffer } | undefined,
  ): Promise<'STALE' | 'LOST' | { flags: string }> {
    const { meta, data } = this.keys;
    const target = (of: typeof live): Argument[] =>
      of ? [of.placed.proof, of.placed.layout.hashCount, of.records] : ['', 0, ''];
    const reply = await this.connection.run(
      this.script.bitsAdd,
      [meta, data, staged?.placed.key ?? meta, ...this.settingsKeys],
      [
        live?.placed.generation.token ?? '',
        staged?.placed.generation.token ?? '',
        ...target(live),
        ...target(staged),
        ...(live?.placed.decisive ?? []),
      ],
    );
    return Array.isArray(reply) ? { flags: String(reply[0]) } : (String(reply) as 'STALE' | 'LOST');
  }

  async probe(headBytes: number): Promise<FoundString> {
    const keys = [this.keys.data, ...this.settingsKeys];
    const reply = (await this.connection.run(this.script.bitsProbe, keys, [headBytes])) as unknown[];
    const [type, length, head, settingsType, ...fields] = reply;
    const texts = fields.map(String);
    const pairs = texts.flatMap((name, i) => (i % 2 === 0 ? [[name, texts[i + 1]!] as const] : []));
    return {
      type: String(type),
      length: Number(length),
      head: head as Buffer,
      settings: String(settingsType) === 'none' ? undefined : Object.fromEntries(pairs),
    };
  }

  /** Length of the string, and the bits set from one byte to another. */
  async measure(from: number, to: number): Promise<{ length: number; setBits: number }> {
    const reply = await this.connection.run(this.script.bitsMeasure, [this.keys.data], [from, to]);
    const [length, setBits] = reply as [number, number];
    return { length, setBits };
  }

  async adopt(
    placed: PlacedBits,
    options: { states: readonly string[]; spareBits: number; makes: boolean; fields: readonly Argument[] },
  ): Promise<AdoptReply> {
    const { states, spareBits, makes, fields } = options;
    const { proof, decisive } = placed;
    return this.named(
      this.script.bitsAdopt,
      [this.keys.meta, this.keys.data, ...this.settingsKeys],
      [states.join(' '), proof, spareBits, makes ? 1 : 0, decisive.length, ...decisive, ...fields],
    );
  }

  async stage(
    placed: PlacedBits,
    options: {
      lease: string;
      live: PlacedBits | undefined;
      snapshot: string;
      lifeMs: number;
      mark: 'leave' | 'mark' | 'make';
      wantsSnapshot: boolean;
      hasFixedSize: boolean;
      found: readonly string[];
    },
  ): Promise<BitRefusal | 'OK' | 'MARKED'> {
    const { live, wantsSnapshot, hasFixedSize } = options;
    const { lease, meta, data } = this.keys;
    return this.named(
      this.script.bitsStage,
      [lease, meta, placed.key, data, options.snapshot, ...this.settingsKeys],
      [
        options.lease,
        live?.generation.token ?? '',
        live?.proof ?? '',
        placed.proof,
        options.lifeMs,
        options.mark,
        wantsSnapshot ? 1 : 0,
        hasFixedSize ? 1 : 0,
        COMPANION_FORMAT,
        ...options.found,
      ],
    );
  }

  /** Removes the live string that a staging made, unless something was added to it. */
  async unmake(placed: PlacedBits, lease: string): Promise<void> {
    const { keys } = this;
    await this.named(this.script.bitsUnmake, [keys.lease, keys.meta, keys.data], [lease, placed.proof]);
  }

  async merge(
    placed: PlacedBits,
    options: { lease: string; scratch: string; from: number; piece: Buffer },
  ): Promise<BitRefusal | 'OK'> {
    const { lease, scratch, from, piece } = options;
    return this.named(
      this.script.bitsMerge,
      [this.keys.lease, placed.key, scratch, `${scratch}:piece`],
      [lease, placed.length, from, piece],
    );
  }

  async swap(
    staged: PlacedBits,
    options: {
      lease: string;
      runId: string;
      old: string;
      aside: string;
      snapshot: string;
      scratch: string;
      foreignAdds: ForeignAdds;
      hasSamePlaces: boolean;
      isMarked: boolean;
      found: readonly string[];
      settings: readonly string[];
      fields: readonly Argument[];
    },
  ): Promise<BitRefusal | 'OK'> {
    const { meta, lease, data } = this.keys;
    const { aside, snapshot, scratch, found, settings, fields } = options;
    return this.named(
      this.script.bitsSwap,
      [meta, lease, staged.key, data, aside, snapshot, scratch, ...this.settingsKeys],
      [
        options.lease,
        staged.generation.token,
        options.runId,
        options.old,
        staged.proof,
        options.foreignAdds,
        ASIDE_LIFE_MS,
        options.hasSamePlaces ? 1 : 0,
        options.isMarked ? 1 : 0,
        found.length,
        settings.length,
        ...found,
        ...settings,
        ...fields,
      ],
    );
  }

  private async named<Reply extends string>(
    script: Script,
    keys: readonly string[],
    args: readonly Argument[],
  ): Promise<Reply> {
    const reply = String(await this.connection.run(script, keys, args));
    if (/^[A-Z]+$/.test(reply)) return reply as Reply;
    throw new BloomUnavailableError(`Redis answered '${reply}' to the script '${script.name}'.`);
  }
}
