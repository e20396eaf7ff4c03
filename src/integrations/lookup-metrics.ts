import {
  byReason,
  exportedMetrics,
  inSeconds,
  ofFilters,
  ofFiltersBy,
  ofMethods,
} from './exported-metric.js';

/** What guards and lookups have seen. */
export const LOOKUP_METRICS = exportedMetrics({
  lookups: {
    kind: 'counter',
    unit: '{lookup}',
    help: 'Ids that guarded methods were called with, by the verdict of the filter and by the reason of an unknown one.',
    labels: ['filter', 'method', 'verdict', 'reason'],
    read: ({ filters }) =>
      filters.flatMap(({ metrics: { filter, methods } }) =>
        methods.flatMap(({ method, absent, maybe, unknown }) => [
          { labels: { filter, method, verdict: 'absent' }, value: absent },
          { labels: { filter, method, verdict: 'maybe' }, value: maybe },
          ...byReason({ filter, method, verdict: 'unknown' }, unknown),
        ]),
      ),
  },
  saved_calls: {
    kind: 'counter',
    unit: '{call}',
    help: 'Calls that were answered without the guarded method, and ids that a method with a list was not given: queries that the database was spared.',
    ...ofMethods(({ saved }) => saved),
  },
  found_nothing: {
    kind: 'counter',
    unit: '{lookup}',
    help: 'Lookups that the filter let through and whose guarded method found nothing.',
    ...ofMethods(({ foundNothing }) => foundNothing),
  },
  'negative_cache.hits': {
    kind: 'counter',
    unit: '{lookup}',
    help: 'Lookups that were answered from the negative cache.',
    ...ofMethods(({ remembered }) => remembered),
  },
  invalid_ids: {
    kind: 'counter',
    unit: '{id}',
    help: 'Values given to guarded methods that cannot be the id of any row.',
    ...ofFilters(({ metrics }) => metrics.guards.invalid),
  },
  wrong_absents: {
    kind: 'counter',
    unit: '{lookup}',
    help: 'Absent answers whose guarded method found something all the same, seen by the audit or in shadow mode. Has to stay 0.',
    ...ofFilters(({ metrics }) => metrics.guards.wrongAbsents),
  },
  failed_adds: {
    kind: 'counter',
    unit: '{id}',
    help: 'Ids new to the filter that were added for calls that then failed.',
    ...ofFilters(({ metrics }) => metrics.guards.failedAdds),
  },
  unjudged_calls: {
    kind: 'counter',
    unit: '{call}',
    help: 'Calls that the filter could not judge: that ran since a hint says that their rows exist (hinted), that ran within the budget (passed), and that were refused.',
    ...ofFiltersBy('outcome', ({ metrics: { budget } }): Readonly<Record<string, number>> =>
      budget ? { hinted: budget.hinted, passed: budget.passed, refused: budget.refused } : {},
    ),
  },
  'unjudged.running': {
    kind: 'gauge',
    unit: '{call}',
    combined: 'sum',
    help: 'Calls within the budget of those that the filter cannot judge, now.',
    ...ofFilters(({ metrics }) => metrics.budget?.running),
  },
  'unjudged.limit': {
    kind: 'gauge',
    unit: '{call}',
    combined: 'sum',
    help: 'How many of them may run at once.',
    ...ofFilters(({ metrics }) => metrics.budget?.limit),
  },
  queued_adds: {
    kind: 'gauge',
    unit: '{id}',
    combined: 'sum',
    help: 'Ids that wait to be added since the store did not take them.',
    ...ofFilters(({ metrics }) => metrics.queuedAdds),
  },
  checks: {
    kind: 'counter',
    unit: '{lookup}',
    help: 'Lookups of guards and of the application, by who answered: the copy in this process (local), the store (remote), or nobody.',
    labels: ['filter', 'source', 'reason'],
    read: ({ filters }) =>
      filters.flatMap(({ metrics: { filter, lookups } }) => [
        { labels: { filter, source: 'local' }, value: lookups.local },
        { labels: { filter, source: 'remote' }, value: lookups.remote },
        ...byReason({ filter, source: 'nobody' }, lookups.unknown),
      ]),
  },
  'check.duration': {
    kind: 'histogram',
    unit: 's',
    help: 'How long lookups took, by who answered. Those of the copy in this process are a sample.',
    ...ofFiltersBy('source', ({ metrics: { latencyMs } }) => ({
      local: inSeconds(latencyMs.local),
      remote: inSeconds(latencyMs.remote),
    })),
  },
  'add.duration': {
    kind: 'histogram',
    unit: 's',
    help: 'How long adds took.',
    ...ofFilters(({ metrics }) => inSeconds(metrics.latencyMs.add)),
  },
  'check.batch_size': {
    kind: 'histogram',
    unit: '{id}',
    help: 'Ids of each question to the store.',
    ...ofFilters(({ metrics }) => metrics.batchSizes.check),
  },
  'add.batch_size': {
    kind: 'histogram',
    unit: '{id}',
    help: 'Ids of each add to the store.',
    ...ofFilters(({ metrics }) => metrics.batchSizes.add),
  },
});
