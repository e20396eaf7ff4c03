import type { BloomOutsideMetrics } from '../service/index.js';
import type { ExportedMetric, Sample } from './exported-metric.js';
import type { MetricsSnapshot } from './metrics-snapshot.js';
import { ofFilters, ofFiltersBy, seconds } from './samples.js';

/** How far filters have come with rows that others write. */
export const OUTSIDE_METRICS: readonly ExportedMetric[] = [
  {
    name: 'outside.following',
    kind: 'gauge',
    unit: '{process}',
    combined: 'max',
    help: '1 while this process reads the rows that others write. Not there without the options topUp and feed.',
    labels: ['filter'],
    read: ofFilters(({ metrics: { outside } }) => outside && Number(outside.isFollowing)),
  },
  {
    name: 'outside.read.timestamp',
    kind: 'gauge',
    unit: 's',
    combined: 'max',
    help: 'When the rows that others write were read last, in seconds since 1970. Not there before the first time, and without the option topUp.',
    labels: ['filter'],
    read: ofFilters(({ metrics, known }) => {
      // A feed notes nothing while the log of its database does not grow.
      const readAt = metrics.outside?.topUp && known?.info.outside?.readAt;
      return readAt && seconds(readAt.getTime());
    }),
  },
  {
    name: 'outside.readings',
    kind: 'counter',
    unit: '{reading}',
    combined: 'sum',
    help: 'How often this process has read what others have written (topUp).',
    labels: ['filter'],
    read: ofFilters(({ metrics }) => metrics.outside?.topUp?.readings),
  },
  {
    name: 'outside.added',
    kind: 'counter',
    unit: '{id}',
    combined: 'sum',
    help: 'Ids new to the filter that this process has added for those who write past the application, by the option topUp or feed.',
    labels: ['filter', 'option'],
    read: byOption(({ added }) => added),
  },
  {
    name: 'outside.failures',
    kind: 'counter',
    unit: '{failure}',
    combined: 'sum',
    help: 'How often this process could not read what others have written, by the option topUp or feed.',
    labels: ['filter', 'option'],
    read: byOption(({ failures }) => failures),
  },
  {
    name: 'outside.feed.running',
    kind: 'gauge',
    unit: '{process}',
    combined: 'max',
    help: '1 while the feed runs in this process. Not there without the option feed.',
    labels: ['filter'],
    read: ofFilters(({ metrics: { outside } }) => outside?.feed && Number(outside.feed.isRunning)),
  },
  {
    name: 'outside.feed.behind',
    kind: 'gauge',
    unit: 'By',
    combined: 'max',
    help: 'Log of the database that the feed has not added yet. Of the process that follows it alone.',
    labels: ['filter'],
    read: ofFilters(({ metrics }) => metrics.outside?.feed?.behindBytes),
  },
  {
    name: 'outside.feed.gaps',
    kind: 'counter',
    unit: '{gap}',
    combined: 'sum',
    help: 'How often the feed of this process may have missed rows, so that the filter is rebuilt.',
    labels: ['filter'],
    read: ofFilters(({ metrics }) => metrics.outside?.feed?.gaps),
  },
];

type Counted = Pick<NonNullable<BloomOutsideMetrics['feed']>, 'added' | 'failures'>;

/** A sample for each of the options that the filter has. */
function byOption(read: (counts: Counted) => number): (snapshot: MetricsSnapshot) => Sample<number>[] {
  return ofFiltersBy('option', ({ metrics: { outside } }) => {
    const values: Record<string, number> = {};
    if (outside?.topUp) values.topUp = read(outside.topUp);
    if (outside?.feed) values.feed = read(outside.feed);
    return values;
  });
}
