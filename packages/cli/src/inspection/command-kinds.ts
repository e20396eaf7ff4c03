import { LAYOUT_NUMBERS } from '@nestjs-bloom/interop';
import {
  BfDriver,
  CfDriver,
  CfKeys,
  generationForm,
  GenerationKeys,
  type GenerationSnapshot,
  type LayoutDriver,
  type ResolvedGeneration,
  type StoredGeneration,
} from '@nestjs-bloom/interop/internal';
import { parseMeta } from 'nestjs-bloom/internal';
import { type InspectionContext, readGeneration } from './blocked-kind.js';
import type { FoundGeneration, FoundMeta, InspectedKind } from './found-generation.js';

/** What the drivers ask for, and reading needs none of it: the stored generation has its own. */
export const INSPECTION_PLAN = { capacity: 1, errorRate: 0.001, maxIdBytes: 1024 };

/** A filter of `BF.*` commands, on a key of this library or on that of another system. */
export function bfKind(context: InspectionContext, key?: string): InspectedKind {
  const keys = new GenerationKeys(key ?? `${context.keyPrefix}:{${context.name}}:bf`);
  const driver = new BfDriver({
    filter: context.name,
    emit: () => {},
    connection: context.connection,
    keys,
    plan: INSPECTION_PLAN,
    ownsKey: key === undefined,
  });
  return {
    layout: 'redisbloom',
    keys,
    read: (type, fields) =>
      readGeneration(parseMeta(generationForm(LAYOUT_NUMBERS.redisbloom), type, fields), {
        live: (generation) => driven(driver, generation, [keys.data]),
        stagingKeys: ({ token }) => [keys.staging(token)],
      }),
  };
}

/** A filter of `CF.*` commands. */
export function cuckooKind(context: InspectionContext): InspectedKind {
  const keys = new CfKeys(context.keyPrefix, context.name);
  const driver = new CfDriver({
    filter: context.name,
    connection: context.connection,
    keys,
    plan: INSPECTION_PLAN,
    layout: {},
    hasSource: true,
    drainMs: 0,
  });
  return {
    layout: 'cuckoo',
    keys,
    read: (type, fields) =>
      readGeneration(parseMeta(generationForm(LAYOUT_NUMBERS.cuckoo), type, fields), {
        live: (generation) =>
          driven(driver, generation, [keys.generation(generation.token), keys.kept(generation.token)]),
        stagingKeys: ({ token }) => [keys.generation(token), keys.kept(token)],
      }),
  };
}

/**
 * A filter on a key of another system. Which system that is shows in the checksum over its generation. Where
 * the bits of an id are depends on settings that only the application knows, so it cannot be asked for ids.
 */
export function peerKind(context: InspectionContext, key: string): InspectedKind {
  const keys = new GenerationKeys(key);
  const bf = bfKind(context, key);
  const read = (type: string, fields: readonly string[]): FoundMeta => {
    const layouts = [LAYOUT_NUMBERS['go-zero'], LAYOUT_NUMBERS.guava, LAYOUT_NUMBERS.redisson];
    const asBf = bf.read(type, fields);
    if (asBf.kind === 'known' && asBf.live) return asBf;
    for (const layout of layouts) {
      const meta = parseMeta(generationForm(layout), type, fields);
      if (meta.kind === 'known' && meta.live) {
        return readGeneration(meta, {
          live: ({ token, settings }) => unread(token, settings, key),
          stagingKeys: (generation) => [keys.staging(generation.token)],
        });
      }
    }
    return asBf;
  };
  return { layout: 'of another system', keys, read };
}

function unread(token: string, settings: string, key: string): FoundGeneration {
  return {
    token,
    settings,
    keys: [{ key }],
    measure: async () => undefined,
    check: async () => 'unknown',
  };
}

function driven<Resolved extends ResolvedGeneration>(
  driver: Pick<LayoutDriver<Resolved>, 'resolve' | 'measure' | 'check'>,
  generation: NonNullable<GenerationSnapshot<Resolved>['live']>['generation'] & StoredGeneration,
  keys: readonly string[],
): FoundGeneration | undefined {
  const resolved = driver.resolve(generation, 'live');
  if (!resolved) return undefined;
  return {
    token: generation.token,
    settings: generation.settings,
    keys: keys.map((key) => ({ key })),
    async measure() {
      const measured = await driver.measure(resolved);
      if (!measured) return undefined;
      const { bytes, modelledErrorRate } = measured.shape;
      return { count: measured.count, bytes, errorRate: modelledErrorRate };
    },
    async check(id) {
      const reply = await driver.check(resolved, [id], 'live');
      return typeof reply === 'string' ? reply : reply[0]!;
    },
  };
}
