import { type BloomEvent, BloomRebuildError } from 'nestjs-bloom';
import { codeOf, count, duration, helpOn, plural } from 'nestjs-bloom/integrations';
import type { EventLine } from './dashboard-view.js';

const THE_LOG = 'The log has the error.';
const WHY = 'The log says why.';

/**
 * What the page shows of an event; undefined for what it shows otherwise. Errors may quote ids that clients
 * have sent, or parameters of a query, so their texts are not
 * shown: the log has them.
 */
export function eventLine(event: BloomEvent, at: number): Omit<EventLine, 'number'> | undefined {
  const said = textOf(event);
  if (said === undefined) return undefined;
  const [level, words] = said;
  const text = event.part === undefined ? words : `Part ${event.part}: ${words}`;
  // The name of a filter that is missing may be what a client has sent.
  const filter = 'filter' in event && event.type !== 'filter-missing' ? event.filter : undefined;
  return { at, type: event.type, help: helpOn(codeOf(event)), filter, level, text };
}

type Said = readonly [level: EventLine['level'], text: string];

function textOf(event: BloomEvent): Said | undefined {
  switch (event.type) {
    case 'rebuild-progress':
      return undefined;
    case 'store-error':
      return ['warn', `The store failed on '${event.operation}'. ${THE_LOG}`];
    case 'connection-error':
      return ['warn', `The connection to Redis reported an error. ${THE_LOG}`];
    case 'circuit-opened':
      return ['warn', `The last lookups in Redis failed; the next ones go through unchecked. ${THE_LOG}`];
    case 'circuit-closed':
      return ['log', `Redis answers again; ${plural(event.rejected, 'lookup')} went through unchecked.`];
    case 'invalid-id':
      return ['warn', `A value that cannot be an id reached ${event.method ?? 'a lookup'}.`];
    case 'guard-error':
      return ['warn', `${event.operation} of ${event.method} failed. ${THE_LOG}`];
    case 'not-ready':
      return ['log', `It does not protect yet: ${event.state}.`];
    case 'state-changed':
      return [event.state === 'ready' ? 'log' : 'warn', `It is ${event.state}. ${event.reason}`];
    case 'wrong-absent':
      return [
        'error',
        `${event.method} found something for an id that was answered "absent": ${count(event.wrongAbsents)} of ` +
          `${count(event.absents)}. ${event.distrusted ? 'The filter is rebuilt.' : 'It stays in service.'}${event.guardOff ? ' Its guard blocks no call any more.' : ''} The log names the id.`,
      ];
    case 'attack-started':
      return [
        'warn',
        `Under attack: ${whole(event.rate)} lookups of absent ids a second, ${Math.round(100 * event.share)} % of all; usual: ` +
          `${whole(event.usualRate)}.${event.method === undefined ? '' : ` Most of them by ${event.method}.`}${worst(event.clients)}`,
      ];
    case 'attack-ended':
      return ['log', 'The attack has ended.'];
    case 'overload-started':
      return [
        'warn',
        `Calls that it cannot judge are refused: more than ${count(event.limit)} would run at once.`,
      ];
    case 'overload-ended':
      return [
        'log',
        `No call was refused for five seconds; before, ${count(event.refused)} were, and ${count(event.passed)} ran.`,
      ];
    case 'overfull':
      return [
        'warn',
        `It holds ${plural(event.count, 'id')} and is planned for ${count(event.capacity)}. ${event.remedy}`,
      ];
    case 'failed-adds':
      return [
        'warn',
        `This process has added ${plural(event.ids, 'id')} for calls that failed, the last one of ${event.method}.`,
      ];
    case 'advice':
      return ['warn', event.withoutId ?? event.text];
    case 'other-owner':
      return ['error', `It belongs to the application '${event.found}', and this one is '${event.owner}'.`];
    case 'filter-claimed':
      return ['warn', `It had no owner and belongs to '${event.owner}' now.`];
    case 'newer-format':
      return ['warn', `It is stored in format ${event.found}; this version reads format ${event.supported}.`];
    case 'other-partitions':
      return [
        'error',
        `It is stored in ${event.found ? plural(event.found, 'partition') : 'no partitions'}, and the options of this process say ${event.partitions || 'none'}.`,
      ];
    case 'rebuild-started':
      return ['log', `A rebuild has started, for ${plural(event.capacity, 'id')}.`];
    case 'rebuild-replanned':
      return [
        'log',
        `The source returned more ids than planned: the rebuild starts again, for ${plural(event.capacity, 'id')}.`,
      ];
    case 'count-ignored':
      return ['warn', `The build is planned without count() of the source. ${THE_LOG}`];
    case 'source-retried':
      return ['warn', `The source failed and tries again. ${THE_LOG}`];
    case 'normalize-chosen':
      return ['log', `Ids are normalized with ${event.normalize}, because ${event.column}.`];
    case 'ids-skipped':
      return [
        'warn',
        `The build left out ${plural(event.skipped, 'id')} of the source that cannot be added. The log has an example.`,
      ];
    case 'rebuild-finished':
      return ['log', `Rebuilt with ${plural(event.ids, 'id')} in ${duration(event.durationMs)}.`];
    case 'rebuild-skipped':
      return ['log', `A rebuild was skipped: ${event.reason}`];
    case 'rebuild-failed':
      return failed(event.error);
    case 'clean-up-failed':
      return ['warn', 'A clean-up failed; the remaining keys expire automatically.'];
    case 'mode-changed':
      return [
        'log',
        event.withdrawn
          ? `${event.by} withdrew the mode of all instances; this one is '${event.mode}'.`
          : `${event.by} set the mode '${event.mode}' for all instances.`,
      ];
    case 'copy-leased':
      return ['log', 'This process answers "absent" from its copy.'];
    case 'copy-unleased':
      return [
        'log',
        `This process confirms absent ids with Redis until its copy has a lease again. ${event.reason}`,
      ];
    case 'adds-delayed':
      return [
        'warn',
        `Adds of this process waited ${plural(event.times, 'time')} within a minute for half a lease or longer, since another ` +
          'process with a leased copy is slow to acknowledge them.',
      ];
    case 'top-up-failed':
      return ['warn', `New rows could not be added, and are read again. ${THE_LOG}`];
    case 'mark-moved-back':
      return [
        'warn',
        event.to === undefined
          ? `The mark of topUp is gone until the next rebuild has set one. ${WHY}`
          : `The mark of topUp was moved back. ${WHY}`,
      ];
    case 'feed-failed':
      return ['warn', `The feed ended, and is tried again. ${THE_LOG}`];
    case 'feed-gap':
      return ['warn', `The feed may have missed rows, so the filter is rebuilt. ${WHY}`];
    case 'add-queued':
      return ['warn', `${plural(event.queued, 'id')} could not be added yet.`];
    case 'filter-missing':
      return ['warn', `${event.method} ran unguarded: the filter is not registered.`];
  }
}

function whole(value: number): string {
  return count(Math.round(value));
}

function worst(clients: readonly { readonly client: string; readonly absents: number }[]): string {
  if (clients.length === 0) return '';
  const named = clients.slice(0, 3).map(({ client, absents }) => `${client} (${count(absents)})`);
  return ` The worst clients: ${named.join(', ')}.`;
}

function failed(error: unknown): Said {
  const reason = error instanceof BloomRebuildError ? error.reason : 'failed';
  if (reason === 'aborted') return ['log', 'A rebuild was stopped.'];
  return ['error', `A rebuild failed: ${reason}. ${THE_LOG}`];
}
