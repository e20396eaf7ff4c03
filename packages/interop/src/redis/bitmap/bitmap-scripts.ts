import {
  defineScripts,
  type RedisConnection,
  type Refusal,
  runStep,
  wordIn,
  RETIRED_LIFE_MS,
} from 'nestjs-bloom/internal';
import type { BloomEventListener, StagePlan } from 'nestjs-bloom/store';
import type { ForeignAdds } from '../../formats/key-options.js';
import { bitmapLua } from '../../lua/bitmap.generated.js';
import type { GenerationKeys } from '../generation/generation-keys.js';
import { GENERATION_FORMAT } from '../generation/generation-meta.js';
import type { BitmapFormat, FoundString } from './bitmap-format.js';
import type { ResolvedBitmap } from './resolved-bitmap.js';

const ADOPT_REPLIES = ['STALE', 'MISSING', 'TYPE', 'LENGTH', 'HEAD', 'SETTINGS', 'OK'] as const;
export type AdoptReply = (typeof ADOPT_REPLIES)[number];
export type BitmapRefusal = Refusal | 'TYPE' | 'SETTINGS' | 'LIVE';

type Argument = string | number | Buffer;
const SCRIPTS = [
  'bitmapCheck',
  'bitmapAdd',
  'bitmapFind',
  'bitmapMeasure',
  'bitmapAdopt',
  'bitmapStage',
  'bitmapUnmake',
  'bitmapMerge',
  'bitmapSwap',
] as const;

/** One typed function for each script on strings of bits. */
export class BitmapScripts {
  private readonly script = defineScripts(bitmapLua, SCRIPTS);
  /** The settings' key of the peers, where they keep some. */
  private readonly settingsKeys: readonly string[];

  constructor(
    private readonly connection: RedisConnection,
    private readonly keys: GenerationKeys,
    settingsKey: string | undefined,
  ) {
    this.settingsKeys = settingsKey === undefined ? [] : [settingsKey];
  }

  /** A character for each id, `1` when it was found. */
  async check(
    resolved: ResolvedBitmap,
    options: { tokenField: string; offsets: readonly number[] },
  ): Promise<'STALE' | 'LOST' | { flags: string }> {
    const { generation, key, layout, length, head, canaries } = resolved;
    // Peers keep no settings beside a staged string.
    const [settingsKeys, geometryFields] =
      key === this.keys.data ? [this.settingsKeys, resolved.geometryFields] : [[], []];
    const reply = String(
      await this.connection.runRead(
        this.script.bitmapCheck,
        [this.keys.meta, key, ...settingsKeys],
        [
          options.tokenField,
          generation.token,
          layout.hashCount,
          length,
          head,
          canaries.length,
          geometryFields.length,
          ...canaries,
          ...geometryFields,
          ...options.offsets,
        ],
      ),
    );
    return reply === 'STALE' || reply === 'LOST' ? reply : { flags: reply };
  }

  /** `live` without a token: the string as the peers have it, while no generation is live. */
  async add(
    live: { resolved: ResolvedBitmap; records: Buffer } | undefined,
    staging: { resolved: ResolvedBitmap; records: Buffer } | undefined,
  ): Promise<'STALE' | 'LOST' | { flags: string }> {
    const { meta, data } = this.keys;
    const target = (of: typeof live): Argument[] =>
      of ? [of.resolved.proof, of.resolved.layout.hashCount, of.records] : ['', 0, ''];
    const reply = await this.connection.run(
      this.script.bitmapAdd,
      [meta, data, staging?.resolved.key ?? meta, ...this.settingsKeys],
      [
        live?.resolved.generation.token ?? '',
        staging?.resolved.generation.token ?? '',
        ...target(live),
        ...target(staging),
        ...(live?.resolved.geometryFields ?? []),
      ],
    );
    return Array.isArray(reply)
      ? { flags: String(reply[0]) }
      : wordIn(['STALE', 'LOST'], this.script.bitmapAdd, reply);
  }

  async find(headBytes: number): Promise<FoundString> {
    const keys = [this.keys.data, ...this.settingsKeys];
    const reply = (await this.connection.run(this.script.bitmapFind, keys, [headBytes])) as unknown[];
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
    const reply = await this.connection.run(this.script.bitmapMeasure, [this.keys.data], [from, to]);
    const [length, setBits] = reply as [number, number];
    return { length, setBits };
  }

  async adopt(
    resolved: ResolvedBitmap,
    options: { states: readonly string[]; spareBits: number; makes: boolean; fields: readonly Argument[] },
  ): Promise<AdoptReply> {
    const { states, spareBits, makes, fields } = options;
    const { proof, geometryFields } = resolved;
    const reply = await this.connection.run(
      this.script.bitmapAdopt,
      [this.keys.meta, this.keys.data, ...this.settingsKeys],
      [
        ` ${states.join(' ')} `,
        GENERATION_FORMAT,
        proof,
        spareBits,
        makes ? 1 : 0,
        geometryFields.length,
        ...geometryFields,
        ...fields,
      ],
    );
    return wordIn(ADOPT_REPLIES, this.script.bitmapAdopt, reply);
  }

  async stage(
    resolved: ResolvedBitmap,
    options: {
      lease: string;
      live: ResolvedBitmap | undefined;
      lifeMs: number;
      mark: 'leave' | 'mark' | 'make';
      hasFixedSize: boolean;
      found: readonly string[];
    },
  ): Promise<BitmapRefusal | 'OK' | 'MARKED'> {
    const { live, hasFixedSize } = options;
    const { lease, meta, data } = this.keys;
    return runStep(
      this.connection,
      this.script.bitmapStage,
      [lease, meta, resolved.key, data, ...this.settingsKeys],
      [
        options.lease,
        live?.generation.token ?? '',
        live?.proof ?? '',
        resolved.proof,
        options.lifeMs,
        options.mark,
        hasFixedSize ? 1 : 0,
        GENERATION_FORMAT,
        ...options.found,
      ],
      ['TYPE', 'SETTINGS', 'MARKED'],
    );
  }

  /** Removes the live string that a staging made, unless something was added to it. */
  async unmake(resolved: ResolvedBitmap, lease: string): Promise<void> {
    const { keys } = this;
    await runStep(
      this.connection,
      this.script.bitmapUnmake,
      [keys.lease, keys.meta, keys.data],
      [lease, resolved.proof],
    );
  }

  async merge(
    resolved: ResolvedBitmap,
    options: { lease: string; scratch: string; from: number; piece: Buffer },
  ): Promise<BitmapRefusal | 'OK'> {
    const { lease, scratch, from, piece } = options;
    return runStep(
      this.connection,
      this.script.bitmapMerge,
      [this.keys.lease, resolved.key, scratch, `${scratch}:piece`],
      [lease, resolved.length, from, piece],
    );
  }

  async swap(
    staging: ResolvedBitmap,
    options: {
      lease: string;
      runId: string;
      live: ResolvedBitmap | undefined;
      retired: string;
      foreignAdds: ForeignAdds;
      hasSamePositions: boolean;
      isMarked: boolean;
      found: readonly string[];
      settings: readonly string[];
      fields: readonly Argument[];
    },
  ): Promise<BitmapRefusal | 'OK'> {
    const { meta, lease, data } = this.keys;
    const { retired, found, settings, fields } = options;
    return runStep(
      this.connection,
      this.script.bitmapSwap,
      [meta, lease, staging.key, data, retired, ...this.settingsKeys],
      [
        options.lease,
        staging.generation.token,
        options.runId,
        options.live?.generation.token ?? '',
        staging.proof,
        options.foreignAdds,
        RETIRED_LIFE_MS,
        options.hasSamePositions ? 1 : 0,
        options.isMarked ? 1 : 0,
        found.length,
        settings.length,
        ...found,
        ...settings,
        ...fields,
      ],
      ['TYPE', 'LIVE', 'SETTINGS'],
    );
  }
}

/** What driver, reader and staging of one bitmap work with. */
export interface BitmapContext {
  readonly name: string;
  readonly emit: BloomEventListener;
  readonly format: BitmapFormat;
  readonly scripts: BitmapScripts;
  /** What the filter is planned for in this process. */
  readonly plan: StagePlan;
  readonly foreignAdds: ForeignAdds;
}
