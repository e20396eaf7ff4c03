import type { BloomFilterState } from '../common/index.js';
import type { BloomFilterInfo, BloomGuardMode } from '../service/index.js';
import type { ExportedMetric, ExportedNumber } from './exported-metric.js';
import { ofFilters, ofFiltersBy, oneOf, seconds } from './samples.js';

const STATES: readonly BloomFilterState[] = ['ready', 'unbuilt', 'lost', 'suspect'];
const MODES: readonly BloomGuardMode[] = ['on', 'shadow', 'off'];

/** Of the generation that is live in the store, which all processes share. */
function ofInfo(
  metric: Pick<ExportedNumber, 'name' | 'unit' | 'help'>,
  read: (info: BloomFilterInfo) => number | undefined,
): ExportedMetric {
  return {
    ...metric,
    kind: 'gauge',
    combined: 'max',
    labels: ['filter'],
    read: ofFilters(({ known }) => known && read(known.info)),
  };
}

function partsByState(parts: BloomFilterInfo['parts']): Readonly<Record<string, number>> {
  if (!parts) return {};
  const states = [...STATES, 'unreachable'];
  return Object.fromEntries(
    states.map((state) => [state, parts.filter((part) => (part.state ?? 'unreachable') === state).length]),
  );
}

/** How the filters stand. */
export const FILTER_METRICS: readonly ExportedMetric[] = [
  {
    name: 'state',
    kind: 'gauge',
    unit: '{state}',
    combined: 'max',
    help: 'The state of the filter as this process knows it: 1 for the one that holds, 0 for the others. All are 0 until it has asked.',
    labels: ['filter', 'state'],
    read: ofFiltersBy('state', ({ metrics }) => oneOf(STATES, metrics.state)),
  },
  {
    name: 'mode',
    kind: 'gauge',
    unit: '{mode}',
    combined: 'max',
    help: 'How guards of this process use the filter: 1 for the mode that holds, 0 for the others.',
    labels: ['filter', 'mode'],
    read: ofFiltersBy('mode', ({ metrics }) => oneOf(MODES, metrics.mode)),
  },
  {
    name: 'circuit.open',
    kind: 'gauge',
    unit: '{circuit}',
    combined: 'max',
    help: '1 while lookups are not sent to Redis, since it did not answer the last ones.',
    labels: ['filter'],
    read: ofFilters(({ metrics }) => (metrics.isCircuitOpen ? 1 : 0)),
  },
  {
    name: 'attack.active',
    kind: 'gauge',
    unit: '{attack}',
    combined: 'max',
    help: '1 from the event attack-started to the event attack-ended of this process.',
    labels: ['filter'],
    read: ofFilters(({ isAttacked }) => (isAttacked ? 1 : 0)),
  },
  {
    name: 'advice',
    kind: 'gauge',
    unit: '{advice}',
    combined: 'max',
    help: 'How many things in the setup endanger the filter. The log says what they are, and what to do.',
    labels: ['filter'],
    read: ofFilters(({ metrics }) => metrics.advice.length),
  },
  {
    name: 'let_through',
    kind: 'gauge',
    unit: '1',
    combined: 'average',
    help: 'Share of the lookups of ids without a row that were let through in the last minutes. Not there while there were none.',
    labels: ['filter'],
    read: ofFilters(({ metrics }) => metrics.recent?.letThroughRate),
  },
  ofInfo(
    {
      name: 'error_rate.model',
      unit: '1',
      help: 'Share of absent ids that pass the filter, measured from its bits. Not there unless the filter is ready.',
    },
    (info) => info.modelledErrorRate,
  ),
  ofInfo(
    {
      name: 'error_rate.target',
      unit: '1',
      help: 'Share of absent ids that may pass, as the option errorRate says.',
    },
    (info) => info.errorRate,
  ),
  ofInfo(
    {
      name: 'generation.ids',
      unit: '{id}',
      help: 'About how many ids the live generation holds.',
    },
    (info) => info.count,
  ),
  ofInfo(
    {
      name: 'generation.capacity',
      unit: '{id}',
      help: 'How many ids the live generation holds at its error rate.',
    },
    (info) => info.capacity,
  ),
  ofInfo(
    { name: 'generation.size', unit: 'By', help: 'Memory of the live generation in the store.' },
    (info) => info.bytes,
  ),
  ofInfo(
    {
      name: 'generation.fill',
      unit: '1',
      help: 'Share of the bits of the live generation that are set. Not there for layouts without such bits, and unless the filter is ready.',
    },
    (info) => info.fillRatio,
  ),
  ofInfo(
    {
      name: 'generation.built.timestamp',
      unit: 's',
      help: 'When the live generation was built, in seconds since 1970. Not there for a filter that was never built.',
    },
    (info) => info.builtAt && seconds(info.builtAt.getTime()),
  ),
  {
    name: 'parts',
    kind: 'gauge',
    unit: '{part}',
    combined: 'max',
    help: 'How many parts of a partitioned filter are in this state, or unreachable. Not there without partitions.',
    labels: ['filter', 'state'],
    read: ofFiltersBy('state', ({ known }) => partsByState(known?.info.parts)),
  },
  {
    name: 'info.read.timestamp',
    kind: 'gauge',
    unit: 's',
    combined: 'max',
    help: 'When the metrics of the live generation and of the error rates were read from the store, in seconds since 1970.',
    labels: ['filter'],
    read: ofFilters(({ known }) => known && seconds(known.readAt.getTime())),
  },
];
