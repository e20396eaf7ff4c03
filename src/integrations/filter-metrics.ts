import type { BloomFilterState } from '../common/index.js';
import type { BloomFilterInfo, BloomGuardMode } from '../service/index.js';
import type { BloomUnleasedCause } from '../store/index.js';
import { exportedMetrics, ofFilters, ofFiltersBy, oneOf, seconds } from './exported-metric.js';

const STATES: readonly BloomFilterState[] = ['ready', 'unbuilt', 'lost', 'suspect'];
const MODES: readonly BloomGuardMode[] = ['on', 'shadow', 'off'];

/** What `info()` says of the generation that is live in the store, which all processes share. */
const ofInfo = (read: (info: BloomFilterInfo) => number | undefined) =>
  ofFilters(({ known }) => known && read(known.info));

function partsByState(parts: BloomFilterInfo['parts']): Readonly<Record<string, number>> {
  if (!parts) return {};
  const states = [...STATES, 'unreachable'];
  return Object.fromEntries(
    states.map((state) => [state, parts.filter((part) => (part.state ?? 'unreachable') === state).length]),
  );
}

/** How the filters stand. */
export const FILTER_METRICS = exportedMetrics({
  state: {
    kind: 'gauge',
    unit: '{state}',
    help: 'The state of the filter as this process knows it: 1 for the one that holds, 0 for the others. All are 0 until it has asked.',
    ...ofFiltersBy('state', ({ metrics }) => oneOf(STATES, metrics.state)),
  },
  mode: {
    kind: 'gauge',
    unit: '{mode}',
    help: 'How guards of this process use the filter: 1 for the mode that holds, 0 for the others.',
    ...ofFiltersBy('mode', ({ metrics }) => oneOf(MODES, metrics.mode)),
  },
  'circuit.open': {
    kind: 'gauge',
    unit: '{circuit}',
    help: '1 while lookups are not sent to Redis, since it did not answer the last ones.',
    ...ofFilters(({ metrics }) => (metrics.isCircuitOpen ? 1 : 0)),
  },
  'attack.active': {
    kind: 'gauge',
    unit: '{attack}',
    help: '1 from the event attack-started to the event attack-ended of this process.',
    ...ofFilters(({ isAttacked }) => (isAttacked ? 1 : 0)),
  },
  advice: {
    kind: 'gauge',
    unit: '{advice}',
    help: 'How many things in the setup endanger the filter. The log says what they are, and what to do.',
    ...ofFilters(({ metrics }) => metrics.advice.length),
  },
  let_through: {
    kind: 'gauge',
    unit: '1',
    combined: 'average',
    help: 'Share of the lookups of ids without a row that were let through in the last minutes. Not there while there were none.',
    ...ofFilters(({ metrics }) => metrics.recent?.letThroughRate),
  },
  'error_rate.model': {
    kind: 'gauge',
    unit: '1',
    help: 'Share of absent ids that pass the filter, measured from its bits. Not there unless the filter is ready.',
    ...ofInfo((info) => info.modelledErrorRate),
  },
  'error_rate.target': {
    kind: 'gauge',
    unit: '1',
    help: 'Share of absent ids that may pass, as the option errorRate says.',
    ...ofInfo((info) => info.errorRate),
  },
  'generation.ids': {
    kind: 'gauge',
    unit: '{id}',
    help: 'About how many ids the live generation holds.',
    ...ofInfo((info) => info.count),
  },
  'generation.capacity': {
    kind: 'gauge',
    unit: '{id}',
    help: 'How many ids the live generation holds at its error rate.',
    ...ofInfo((info) => info.capacity),
  },
  'generation.size': {
    kind: 'gauge',
    unit: 'By',
    help: 'Memory of the live generation in the store.',
    ...ofInfo((info) => info.bytes),
  },
  'generation.fill': {
    kind: 'gauge',
    unit: '1',
    help: 'Share of the bits of the live generation that are set. Not there for layouts without such bits, and unless the filter is ready.',
    ...ofInfo((info) => info.fillRatio),
  },
  'generation.built.timestamp': {
    kind: 'gauge',
    unit: 's',
    help: 'When the live generation was built, in seconds since 1970. Not there for a filter that was never built.',
    ...ofInfo((info) => info.builtAt && seconds(info.builtAt.getTime())),
  },
  parts: {
    kind: 'gauge',
    unit: '{part}',
    help: 'How many parts of a partitioned filter are in this state, or unreachable. Not there without partitions.',
    ...ofFiltersBy('state', ({ known }) => partsByState(known?.info.parts)),
  },
  'info.read.timestamp': {
    kind: 'gauge',
    unit: 's',
    help: 'When the metrics of the live generation and of the error rates were read from the store, in seconds since 1970.',
    ...ofFilters(({ known }) => known && seconds(known.readAt.getTime())),
  },
});

const CAUSES: readonly BloomUnleasedCause[] = [
  'not-loaded',
  'load-failed',
  'lapsed',
  'store-silent',
  'not-live',
  'other-generation',
  'feed-lost',
  'refused',
  'no-leases',
];

/** The leased copies of this process, and the adds that wait for the leased copies of all processes. */
export const COPY_METRICS = exportedMetrics({
  'copy.leased': {
    kind: 'gauge',
    unit: '{copy}',
    help: '1 while this process answers absent from its copy, 0 while it asks the store. Not there without leased copies.',
    ...ofFilters(({ metrics }) => metrics.copyLease && Number(metrics.copyLease.isLeased)),
  },
  'copy.unleased': {
    kind: 'gauge',
    unit: '{copy}',
    help: 'Why this process does not answer absent from its copy: 1 for the reason that holds, 0 for the others. Not there without leased copies.',
    ...ofFiltersBy('reason', ({ metrics }) =>
      metrics.copyLease ? oneOf(CAUSES, metrics.copyLease.cause) : {},
    ),
  },
  'copy.behind': {
    kind: 'gauge',
    unit: '{entry}',
    help: 'Entries of the feed of adds that this process knows of and has not applied to its copy.',
    ...ofFilters(({ metrics }) => metrics.copyLease?.behind),
  },
  'copy.waits': {
    kind: 'counter',
    unit: '{add}',
    help: 'Calls that added ids and waited for processes with a leased copy.',
    ...ofFilters(({ metrics }) => metrics.copyWaits.adds),
  },
  'copy.wait': {
    kind: 'counter',
    unit: 's',
    help: 'For how long calls that added ids waited for processes with a leased copy, in all.',
    ...ofFilters(({ metrics }) => seconds(metrics.copyWaits.ms)),
  },
});
