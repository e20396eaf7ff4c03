import {
  GENERATION_FORMAT,
  generationForm,
  GROWING_LAYOUT,
  GrowingKeys,
  GrowingReader,
  GrowingScripts,
  type ResolvedGrowing,
  resolveGrowing,
  type StoredGeneration,
} from '@nestjs-bloom/interop/internal';
import {
  anyError,
  blockedForms,
  BlockReader,
  type Meta,
  measuredFill,
  parseBlocked,
  parseMeta,
  partName,
  partsOfFormat,
  type RedisConnection,
  RedisKeys,
  sampledBlocks,
  SEGMENT_BLOCKS,
  type SegmentedGeneration,
  segmentedGeneration,
  segmentLength,
  type RawMeta,
  tagText,
} from 'nestjs-bloom/internal';
import { BLOCK_DATA_BITS, type Generation, type IdKey } from 'nestjs-bloom/filter';
import type { FilterPart } from 'nestjs-bloom/store';
import type {
  FoundGeneration,
  FoundMeta,
  GenerationMeasure,
  InspectedKind,
  IntegerRange,
} from './found-generation.js';
import type { BitsOfId } from './inspection.messages.js';

const FORMS = blockedForms();

export interface InspectionContext {
  readonly keyPrefix: string;
  readonly name: string;
  readonly connection: RedisConnection;
  /** Which part of a filter is looked at; undefined: a filter, or the first part of one that is divided. */
  readonly part?: FilterPart | undefined;
}

/**
 * Filters of layout `blocked` or `exact`: of one generation, or grown by layers; their metadata stand at the
 * same key in several formats.
 */
export function blockedKind(context: InspectionContext): InspectedKind {
  const keys = new RedisKeys(context.keyPrefix, partName(context.name, context.part?.index ?? 0));
  return {
    layout: 'blocked',
    keys,
    read(type, fields) {
      const parts = context.part?.of ?? partitionsIn(type, fields);
      const meta = parseBlocked(parts === undefined ? FORMS : blockedForms(parts), type, fields);
      if (meta.kind === 'other') {
        return meta.found === GENERATION_FORMAT
          ? readGrown(context, type, fields)
          : { kind: 'newer', found: meta.found, supported: FORMS[0].format };
      }
      if (meta.kind !== 'known') return meta;
      const { live, staging } = meta;
      const token = meta.fields.get('pending.token') ?? '';
      const count = Math.max(0, meta.fields.count('count'));
      const segments = staging && segmentedGeneration(staging, (index) => keys.staging(token, index));
      return {
        ...meta,
        count,
        live: live && ofSegments(context, segmentedGeneration(live, keys.segment), count),
        staging: segments && { token, keys: keysOf(segments) },
      };
    },
  };
}

/** Parts of the filter whose metadata these are; undefined of one that is not divided. */
export function partitionsIn(type: string, fields: readonly string[]): number | undefined {
  const meta = parseBlocked(FORMS, type, fields);
  return (meta.kind === 'other' && partsOfFormat(meta.found)) || undefined;
}

/** Whether metadata at the key of a blocked filter are those of one that grows. */
export function isGrown(type: string, fields: readonly string[]): boolean {
  const meta = parseBlocked(FORMS, type, fields);
  return meta.kind === 'other' && meta.found === GENERATION_FORMAT;
}

function ofSegments(context: InspectionContext, live: SegmentedGeneration, count: number): FoundGeneration {
  const reader = new BlockReader(context.connection);
  const { hashCount, maxIdBytes } = live.generation;
  return {
    token: tagText(live.generation),
    hashCount,
    maxIdBytes,
    range: rangeOf(live.generation),
    keys: sizedKeys(live),
    async measure() {
      const measured = await measureLayer(reader, live);
      return measured && { ...measured, count };
    },
    async check(id) {
      const reply = await reader.readOne(live, id);
      return typeof reply === 'string' ? 'LOST' : reply[0]!;
    },
    bitsOf: (id) => bitsOf(live, id),
  };
}

async function measureLayer(
  reader: BlockReader,
  layer: SegmentedGeneration,
): Promise<GenerationMeasure | undefined> {
  const { range } = layer.generation;
  const numbers = sampledBlocks(layer.generation);
  const blocks = await reader.blocks(layer, numbers);
  if (!blocks) return undefined;
  const { errorRate, fillRatio } = measuredFill(numbers, blocks, layer.generation);
  return {
    bytes: sizedKeys(layer).reduce((sum, { bytes }) => sum + bytes, 0),
    errorRate,
    fill: {
      share: fillRatio,
      blocks: range ? numbers.filter((one) => one < range.blocks).length : blocks.length,
    },
  };
}

function rangeOf({ range }: Generation): IntegerRange | undefined {
  return range && { first: range.first, last: range.first + range.blocks * BLOCK_DATA_BITS - 1 };
}

function bitsOf({ layout, generation, key }: SegmentedGeneration, id: IdKey): BitsOfId {
  layout.locate(id);
  const { block, isOwnBit } = layout;
  const place = `block ${block % SEGMENT_BLOCKS} of ${key(Math.floor(block / SEGMENT_BLOCKS))}`;
  return isOwnBit ? { isOwnBit, place } : { hashCount: generation.hashCount, place };
}

function readGrown(context: InspectionContext, type: string, fields: readonly string[]): FoundMeta {
  const keys = new GrowingKeys(context.keyPrefix, context.name);
  const resolve = (generation: StoredGeneration) => resolveGrowing(keys, generation);
  return readGeneration(parseMeta(generationForm(GROWING_LAYOUT), type, fields), {
    live: (generation) => {
      const live = resolve(generation);
      return live && ofLayers(context, keys, live);
    },
    stagingKeys: (generation) => resolve(generation)?.layers.flatMap(keysOf) ?? [],
  });
}

function ofLayers(context: InspectionContext, keys: GrowingKeys, live: ResolvedGrowing): FoundGeneration {
  const scripts = new GrowingScripts(context.connection, keys);
  const reader = new BlockReader(context.connection);
  const { layers, settings, generation } = live;
  return {
    token: generation.token,
    hashCount: settings.layers.at(-1)!.hashCount,
    maxIdBytes: settings.maxIdBytes,
    keys: layers.flatMap(sizedKeys),
    async measure() {
      const [counts, measured] = await Promise.all([
        scripts.count(live),
        Promise.all(layers.map((layer) => measureLayer(reader, layer))),
      ]);
      const found = measured.filter((one) => one !== undefined);
      if (!counts || found.length < layers.length) return undefined;
      return {
        count: counts.reduce((sum, one) => sum + one, 0),
        bytes: found.reduce((sum, { bytes }) => sum + bytes, 0),
        errorRate: anyError(found.map(({ errorRate }) => errorRate ?? 0)),
        fill: found.at(-1)!.fill,
      };
    },
    async check(id) {
      const reply = await new GrowingReader(keys, scripts).check(live, [id], 'live');
      return typeof reply === 'string' ? reply : reply[0]!;
    },
  };
}

/** Metadata of format 2, with what one kind makes of its generations. */
export function readGeneration(
  meta: RawMeta<StoredGeneration>,
  kind: {
    readonly live: (generation: StoredGeneration) => FoundGeneration | undefined;
    readonly stagingKeys: (generation: StoredGeneration) => readonly string[];
  },
): FoundMeta {
  if (meta.kind === 'other') return { kind: 'newer', found: meta.found, supported: GENERATION_FORMAT };
  if (meta.kind !== 'known') return meta;
  const live = meta.live && kind.live(meta.live);
  if (meta.live && !live) return { kind: 'nonsense', fault: 'settings' };
  return known(meta, live, kind.stagingKeys);
}

function known(
  meta: Meta<StoredGeneration>,
  live: FoundGeneration | undefined,
  stagingKeys: (generation: StoredGeneration) => readonly string[],
): FoundMeta {
  const { staging } = meta;
  return {
    ...meta,
    count: 0,
    live,
    staging: staging && { token: staging.token, keys: stagingKeys(staging) },
  };
}

function sizedKeys(from: SegmentedGeneration) {
  const tag = tagText(from.generation);
  return Array.from({ length: from.segments }, (_, index) => ({
    key: from.key(index),
    bytes: segmentLength(from.generation, index),
    tag,
  }));
}

function keysOf(from: SegmentedGeneration): string[] {
  return sizedKeys(from).map(({ key }) => key);
}
