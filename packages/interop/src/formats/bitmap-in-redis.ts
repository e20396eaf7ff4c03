import { type FilterTarget, planFilter } from 'nestjs-bloom/filter';
import type { RedisLayout } from 'nestjs-bloom/internal';
import type { StagePlan } from 'nestjs-bloom/store';
import type { BitmapFormat } from '../redis/bitmap/bitmap-format.js';
import { openBitmap } from '../redis/bitmap/open-bitmap.js';
import { type Adopt, checkRebuildOptions, type ForeignAdds } from './key-options.js';
import { LAYOUT_NUMBERS } from './layout-numbers.js';

/** What one layout of a row of bits has of its own. */
interface BitmapLayoutRules {
  readonly kind: keyof typeof LAYOUT_NUMBERS;
  /** The function that makes the layout, for errors. */
  readonly maker: string;
  /** The key of the peers. */
  readonly key: string;
  readonly options: {
    readonly foreignAdds?: ForeignAdds | undefined;
    readonly adopt?: Adopt | undefined;
    readonly resize?: boolean | undefined;
  };

  /** Bytes of a filter: those that every side was given, or those that the peer would choose. */
  bytes(target: FilterTarget): number;

  format(plan: StagePlan): BitmapFormat;
}

/** A layout whose bits are one row in a Redis string of the peers. */
export function bitmapLayout(rules: BitmapLayoutRules): RedisLayout {
  const { kind, maker, key, options } = rules;
  const bytes = ({ capacity, errorRate }: FilterTarget) => rules.bytes({ capacity, errorRate });
  return {
    kind,
    number: LAYOUT_NUMBERS[kind],
    hasFixedSize: true,
    isMadeByOthers: true,
    waitsForAdopt: options.adopt === 'explicit',
    grows: false,
    canRemove: false,
    claimedKey: key,
    check({ capacity, errorRate, hasSource }) {
      checkRebuildOptions(maker, options, hasSource);
      planFilter({ capacity, errorRate });
      bytes({ capacity, errorRate });
    },
    bytes,
    openRedis: (context) => openBitmap(context, { ...options, format: rules.format(context.plan) }),
  };
}
