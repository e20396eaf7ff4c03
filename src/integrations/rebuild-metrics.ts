import type { BloomOutsideMetrics } from '../service/index.js';
import { exportedMetrics, ofFilters, ofFiltersBy, seconds } from './exported-metric.js';

/** What this process has rebuilt, and what it has reported. */
export const REBUILD_METRICS = exportedMetrics({
  rebuilds: {
    kind: 'counter',
    unit: '{rebuild}',
    help: 'Rebuilds of this process by how they ended. Those that another process did meanwhile are skipped.',
    ...ofFiltersBy('outcome', ({ rebuilds }) => rebuilds.outcomes),
  },
  'rebuild.duration': {
    kind: 'histogram',
    unit: 's',
    help: 'How long the rebuilds of this process took that were published.',
    ...ofFilters(({ rebuilds }) => rebuilds.durations),
  },
  'rebuild.last_phase.duration': {
    kind: 'gauge',
    unit: 's',
    help: 'How long each phase of the last rebuild of this process took.',
    ...ofFiltersBy('phase', ({ metrics: { rebuild } }) => {
      const totals: Record<string, number> = {};
      for (const { phase, durationMs } of rebuild.lastPhases)
        totals[phase] = (totals[phase] ?? 0) + durationMs / 1000;
      return totals;
    }),
  },
  'rebuild.running': {
    kind: 'gauge',
    unit: '{rebuild}',
    help: '1 while this process rebuilds the filter.',
    ...ofFilters(({ metrics }) => (metrics.rebuild.progress ? 1 : 0)),
  },
  'rebuild.progress': {
    kind: 'gauge',
    unit: '1',
    help: 'How much of the source the running rebuild of this process has read. Not there while it is not known.',
    ...ofFilters(({ metrics }) => metrics.rebuild.progress?.share),
  },
  'rebuild.next_run.timestamp': {
    kind: 'gauge',
    unit: 's',
    help: 'When this process rebuilds next, in seconds since 1970. Not there for a filter without a schedule.',
    ...ofFilters(({ metrics }) => metrics.rebuild.nextRunAt && seconds(metrics.rebuild.nextRunAt.getTime())),
  },
  events: {
    kind: 'counter',
    unit: '{event}',
    help: 'Events by type, other than rebuild-progress. Without a filter: events of the connection, and of filters that this application does not have.',
    labels: ['filter', 'type'],
    read: ({ events }) =>
      events.map(({ filter, type, count }) => ({
        labels: filter === undefined ? { type } : { filter, type },
        value: count,
      })),
  },
});

/** How far filters have come with rows that others write. */
export const OUTSIDE_METRICS = exportedMetrics({
  'outside.following': {
    kind: 'gauge',
    unit: '{process}',
    help: '1 while this process reads the rows that others write. Not there without the options topUp and feed.',
    ...ofFilters(({ metrics: { outside } }) => outside && Number(outside.isFollowing)),
  },
  'outside.read.timestamp': {
    kind: 'gauge',
    unit: 's',
    help: 'When the rows that others write were read last, in seconds since 1970. Not there before the first time, and without the option topUp.',
    ...ofFilters(({ metrics, known }) => {
      // A feed notes nothing while the log of its database does not grow.
      const readAt = metrics.outside?.topUp && known?.info.outside?.readAt;
      return readAt && seconds(readAt.getTime());
    }),
  },
  'outside.readings': {
    kind: 'counter',
    unit: '{reading}',
    help: 'How often this process has read what others have written (topUp).',
    ...ofFilters(({ metrics }) => metrics.outside?.topUp?.readings),
  },
  'outside.added': {
    kind: 'counter',
    unit: '{id}',
    help: 'Ids new to the filter that this process has added for those who write past the application, by the option topUp or feed.',
    ...byOption(({ added }) => added),
  },
  'outside.failures': {
    kind: 'counter',
    unit: '{failure}',
    help: 'How often this process could not read what others have written, by the option topUp or feed.',
    ...byOption(({ failures }) => failures),
  },
  'outside.feed.running': {
    kind: 'gauge',
    unit: '{process}',
    help: '1 while the feed runs in this process. Not there without the option feed.',
    ...ofFilters(({ metrics: { outside } }) => outside?.feed && Number(outside.feed.isRunning)),
  },
  'outside.feed.behind': {
    kind: 'gauge',
    unit: 'By',
    help: 'Log of the database that the feed has not added yet. Of the process that follows it alone.',
    ...ofFilters(({ metrics }) => metrics.outside?.feed?.behindBytes),
  },
  'outside.feed.gaps': {
    kind: 'counter',
    unit: '{gap}',
    help: 'How often the feed of this process may have missed rows, so that the filter is rebuilt.',
    ...ofFilters(({ metrics }) => metrics.outside?.feed?.gaps),
  },
});

type Counted = Pick<NonNullable<BloomOutsideMetrics['feed']>, 'added' | 'failures'>;

/** A sample for each of the options that the filter has. */
function byOption(read: (counts: Counted) => number) {
  return ofFiltersBy('option', ({ metrics: { outside } }) => {
    const values: Record<string, number> = {};
    if (outside?.topUp) values.topUp = read(outside.topUp);
    if (outside?.feed) values.feed = read(outside.feed);
    return values;
  });
}
