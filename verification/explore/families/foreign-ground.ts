import { spellingPrint, toIdKey } from '../../../src/filter/index.js';
import { LAYOUT_NUMBERS } from '@nestjs-bloom/interop';
import { GenerationKeys } from '../../../packages/interop/src/redis/generation/generation-keys.js';
import { liveFields } from '../../../packages/interop/src/redis/generation/generation-meta.js';
import { contentsText } from '../../../src/store/redis/meta/contents-check.js';
import type { BitmapFormat, BitmapSize } from '../../../packages/interop/src/redis/bitmap/bitmap-format.js';
import {
  canariesOf,
  resolveBitmap,
  pushOffsets,
} from '../../../packages/interop/src/redis/bitmap/resolved-bitmap.js';
import type { Ground } from '../ground.js';
import { KEY_PREFIX, OLD_ROWS } from '../scenario.js';
import type { RawCommand } from '../server-link.js';
import { runId } from '../simulated-server.js';
import type { ForeignKind } from './foreign-kinds.js';

/** Ids are spelled as they are given. */
const AS_IT_IS = { spelling: spellingPrint(toIdKey), rows: undefined, epoch: undefined };

export interface ForeignGroundOptions {
  readonly filterName: string;
  readonly kind: ForeignKind;
  /** `ready`: a generation is live. `filled`: peers have made the key. `nothing`: there is no key. */
  readonly start: 'ready' | 'filled' | 'nothing';
}

/** Ground of a filter on the keys of a peer. */
export function foreignGround({ filterName, kind, start }: ForeignGroundOptions): Ground {
  const key = `${KEY_PREFIX}:{${filterName}}`;
  const { meta } = new GenerationKeys(key);
  const base = meta.slice(0, -':meta'.length);
  const format = kind.format(key);
  return {
    base,
    layout: kind.layout(key),
    holds: start === 'nothing' ? [] : OLD_ROWS,
    ...(kind.otherSize && format.settingsKey !== undefined
      ? {
          otherSettings: [{ name: 'hset', args: [format.settingsKey, ...format.settings(kind.otherSize)] }],
        }
      : {}),
    peer: { add: (client, id) => kind.peer.add(client, key, id) },
    begin: () => {
      if (start === 'nothing') return { send: [], keys: [] };
      const made = filled(key, format, kind.size);
      return start === 'filled' ? made.byPeer : made.ready(meta);
    },
    isLive: (name) => name === key || name === format.settingsKey,
    isStaged: (name) => name.startsWith(`${base}:next:`) && name.split(':next:')[1]!.split(':').length === 1,
  };
}

function filled(key: string, format: BitmapFormat, size: BitmapSize) {
  const canaries = canariesOf(key, size, format.headBytes);
  const resolved = resolveBitmap({ format, key, geometry: size, canaries, token: 'first' });
  const offsets: number[] = [];
  for (const id of OLD_ROWS) pushOffsets(resolved, id, offsets);
  const setBits: RawCommand[] = offsets.map((at) => ({ name: 'setbit', args: [key, at, 1] }));
  const { settingsKey } = format;
  const settings: RawCommand[] =
    settingsKey === undefined ? [] : [{ name: 'hset', args: [settingsKey, ...format.settings(size)] }];
  const keys = settingsKey === undefined ? [key] : [key, settingsKey];
  const send = [...settings, ...setBits];
  return {
    byPeer: { send, keys },
    ready: (meta: string) => {
      const { capacity, errorRate } = size.target;
      const values = {
        state: 'ready',
        builds: 1,
        runId: runId(0),
        ids: OLD_ROWS.length,
        capacity,
        errorRate,
        contents: contentsText('first', AS_IT_IS),
      };
      const fields = liveFields(resolved.generation, LAYOUT_NUMBERS[format.kind], values);
      const fill: RawCommand[] = [
        { name: 'setbit', args: [key, 8 * resolved.length - 1, 0] },
        ...canaries.map((at) => ({ name: 'setrange', args: [key, at, Buffer.of(255)] })),
        { name: 'hset', args: [meta, ...fields] },
      ];
      return { send: [...send, ...fill], keys: [...keys, meta] };
    },
  };
}
