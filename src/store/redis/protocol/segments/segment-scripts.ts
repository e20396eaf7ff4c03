import type { Generation } from '../../../../filter/index.js';
import type { RedisConnection } from '../../client/redis-connection.js';
import { defineScripts } from '../../client/script.js';
import { coreLua } from '../../lua/core.generated.js';
import { type Refusal, runStep } from '../refusal.js';
import type { RedisKeys } from '../redis-keys.js';
import { tagText } from './segments.js';

/** The scripts on blocks in segments, live or staged. */
export class SegmentScripts {
  private readonly scripts = defineScripts(coreLua, ['check', 'stage', 'load', 'merge']);

  constructor(private readonly connection: RedisConnection) {}

  /** The blocks that the records name; something else for one that is not there whole. */
  async check(segmentKeys: readonly string[], records: Buffer): Promise<readonly unknown[]> {
    return (await this.connection.runRead(this.scripts.check, segmentKeys, [records])) as unknown[];
  }

  async stage(
    keys: Pick<RedisKeys, 'lease'>,
    options: {
      lease: string;
      segment: string;
      generation: Generation;
      from: number;
      blocks: number;
      lifeMs: number;
    },
  ): Promise<Refusal | 'OK'> {
    const { lease, segment, generation, from, blocks, lifeMs } = options;
    return runStep(
      this.connection,
      this.scripts.stage,
      [keys.lease, segment],
      [lease, tagText(generation), from, blocks, lifeMs],
    );
  }

  async load(
    keys: Pick<RedisKeys, 'lease'>,
    options: { lease: string; scratch: string; from: number; piece: Buffer; lifeMs: number },
  ): Promise<Refusal | 'OK'> {
    const { lease, scratch, from, piece, lifeMs } = options;
    return runStep(this.connection, this.scripts.load, [keys.lease, scratch], [lease, from, piece, lifeMs]);
  }

  async merge(
    keys: Pick<RedisKeys, 'lease'>,
    options: { lease: string; segment: string; scratch: string; length: number; lifeMs: number },
  ): Promise<Refusal | 'OK'> {
    const { lease, segment, scratch, length, lifeMs } = options;
    return runStep(
      this.connection,
      this.scripts.merge,
      [keys.lease, segment, scratch],
      [lease, length, lifeMs],
    );
  }
}
