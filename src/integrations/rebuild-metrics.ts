import type { ExportedMetric } from './exported-metric.js';
import { ofFilters, ofFiltersBy, seconds } from './samples.js';

/** What this process has rebuilt, and what it has reported. */
export const REBUILD_METRICS: readonly ExportedMetric[] = [
  {
    name: 'rebuilds',
    kind: 'counter',
    unit: '{rebuild}',
    combined: 'sum',
    help: 'Rebuilds of this process by how they ended. Those that another process did meanwhile are skipped.',
    labels: ['filter', 'outcome'],
    read: ofFiltersBy('outcome', ({ rebuilds }) => rebuilds.outcomes),
  },
  {
    name: 'rebuild.duration',
    kind: 'histogram',
    unit: 's',
    help: 'How long the rebuilds of this process took that were published.',
    labels: ['filter'],
    read: ofFilters(({ rebuilds }) => rebuilds.durations),
  },
  {
    name: 'rebuild.last_phase.duration',
    kind: 'gauge',
    unit: 's',
    combined: 'max',
    help: 'How long each phase of the last rebuild of this process took.',
    labels: ['filter', 'phase'],
    read: ofFiltersBy('phase', ({ metrics: { rebuild } }) => {
      const totals: Record<string, number> = {};
      for (const { phase, durationMs } of rebuild.lastPhases)
        totals[phase] = (totals[phase] ?? 0) + durationMs / 1000;
      return totals;
    }),
  },
  {
    name: 'rebuild.running',
    kind: 'gauge',
    unit: '{rebuild}',
    combined: 'max',
    help: '1 while this process rebuilds the filter.',
    labels: ['filter'],
    read: ofFilters(({ metrics }) => (metrics.rebuild.progress ? 1 : 0)),
  },
  {
    name: 'rebuild.progress',
    kind: 'gauge',
    unit: '1',
    combined: 'max',
    help: 'How much of the source the running rebuild of this process has read. Not there while it is not known.',
    labels: ['filter'],
    read: ofFilters(({ metrics }) => metrics.rebuild.progress?.share),
  },
  {
    name: 'rebuild.next_run.timestamp',
    kind: 'gauge',
    unit: 's',
    combined: 'max',
    help: 'When this process rebuilds next, in seconds since 1970. Not there for a filter without a schedule.',
    labels: ['filter'],
    read: ofFilters(
      ({ metrics }) => metrics.rebuild.nextRunAt && seconds(metrics.rebuild.nextRunAt.getTime()),
    ),
  },
  {
    name: 'events',
    kind: 'counter',
    unit: '{event}',
    combined: 'sum',
    help: 'Events by type, other than rebuild-progress. Without a filter: events of the connection, and of filters that this application does not have.',
    labels: ['filter', 'type'],
    read: ({ events }) =>
      events.map(({ filter, type, count }) => ({
        labels: filter === undefined ? { type } : { filter, type },
        value: count,
      })),
  },
];
