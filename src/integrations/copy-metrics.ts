import type { BloomUnleasedCause } from '../store/index.js';
import type { ExportedMetric } from './exported-metric.js';
import { ofFilters, ofFiltersBy, oneOf, seconds } from './samples.js';

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
export const COPY_METRICS: readonly ExportedMetric[] = [
  {
    name: 'copy.leased',
    kind: 'gauge',
    unit: '{copy}',
    combined: 'max',
    help: '1 while this process answers absent from its copy, 0 while it asks the store. Not there without leased copies.',
    labels: ['filter'],
    read: ofFilters(({ metrics }) => metrics.copyLease && Number(metrics.copyLease.isLeased)),
  },
  {
    name: 'copy.unleased',
    kind: 'gauge',
    unit: '{copy}',
    combined: 'max',
    help: 'Why this process does not answer absent from its copy: 1 for the reason that holds, 0 for the others. Not there without leased copies.',
    labels: ['filter', 'reason'],
    read: ofFiltersBy('reason', ({ metrics }) =>
      metrics.copyLease ? oneOf(CAUSES, metrics.copyLease.cause) : {},
    ),
  },
  {
    name: 'copy.behind',
    kind: 'gauge',
    unit: '{entry}',
    combined: 'max',
    help: 'Entries of the feed of adds that this process knows of and has not applied to its copy.',
    labels: ['filter'],
    read: ofFilters(({ metrics }) => metrics.copyLease?.behind),
  },
  {
    name: 'copy.waits',
    kind: 'counter',
    unit: '{add}',
    combined: 'sum',
    help: 'Calls that added ids and waited for processes with a leased copy.',
    labels: ['filter'],
    read: ofFilters(({ metrics }) => metrics.copyWaits.adds),
  },
  {
    name: 'copy.wait',
    kind: 'counter',
    unit: 's',
    combined: 'sum',
    help: 'For how long calls that added ids waited for processes with a leased copy, in all.',
    labels: ['filter'],
    read: ofFilters(({ metrics }) => seconds(metrics.copyWaits.ms)),
  },
];
