import type { ExportedMetric } from './exported-metric.js';
import { ofFilters, seconds } from './samples.js';

/** How far filters have come with rows that others write. */
export const OUTSIDE_METRICS: readonly ExportedMetric[] = [
  {
    name: 'outside.following',
    kind: 'gauge',
    unit: '{process}',
    combined: 'max',
    help: '1 while this process reads the rows that others write. Not there without the option topUp.',
    labels: ['filter'],
    read: ofFilters(({ known }) => known?.info.outside && Number(known.info.outside.isFollowing)),
  },
  {
    name: 'outside.read.timestamp',
    kind: 'gauge',
    unit: 's',
    combined: 'max',
    help: 'When the rows that others write were read last, in seconds since 1970. Not there before the first time.',
    labels: ['filter'],
    read: ofFilters(({ known }) => {
      const readAt = known?.info.outside?.readAt;
      return readAt && seconds(readAt.getTime());
    }),
  },
  {
    name: 'outside.feed.behind',
    kind: 'gauge',
    unit: 'By',
    combined: 'max',
    help: 'Log of the database that the feed has not added yet, as the process that follows it knows.',
    labels: ['filter'],
    read: ofFilters(({ known }) => known?.info.outside?.feed?.behindBytes),
  },
];
