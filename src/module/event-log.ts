import { Logger } from '@nestjs/common';
import {
  type BloomEvent,
  BloomRebuildError,
  codeOf,
  count,
  describeError,
  duration,
  escaped,
  plural,
  printedId,
  size,
  withHelp,
  withoutCode,
} from '../common/index.js';

/** Events of one kind and filter are written once in this time at most: an outage must not flood the log. */
const WRITE_EVERY_MS = 1000;

/** Writes events to Nest's log. */
export class EventLog {
  private readonly logger = new Logger('Bloom');
  private readonly writtenAt = new Map<string, { at: number; left: number }>();

  write(event: BloomEvent): void {
    const entry = logEntry(event);
    if (!entry) return;
    const code = codeOf(event);
    const advice = event.type === 'advice' ? (event.withoutId ?? event.text) : '';
    const kind = `${event.type} ${'filter' in event ? event.filter : ''} ${advice}`;
    const now = performance.now();
    const last = this.writtenAt.get(kind);
    if (last && entry.level !== 'log' && now - last.at < WRITE_EVERY_MS) {
      last.left++;
      return;
    }
    this.writtenAt.set(kind, { at: now, left: 0 });
    const left = last?.left ? ` (and ${last.left} more since)` : '';
    // Errors may quote what a client has sent.
    const text = escaped(withPart(event, entry.text)) + left;
    this.logger[entry.level](entry.level === 'log' ? text : withHelp(`${code}: ${text}`));
  }
}

function redisAt({ node }: { readonly node?: string }): string {
  return node === undefined ? 'Redis' : `Node ${node} of the cluster`;
}

/** Names the part of a partitioned filter. */
function withPart(event: BloomEvent, text: string): string {
  if (event.part === undefined || !('filter' in event)) return text;
  const filter = `Filter '${event.filter}'`;
  return text.replace(filter, () => `${filter}, part ${event.part}`);
}

function logEntry(event: BloomEvent): { level: 'log' | 'warn' | 'error'; text: string } | undefined {
  switch (event.type) {
    case 'store-error':
      return warn(`Filter '${event.filter}': ${event.operation} failed. ${describeError(event.error)}`);
    case 'connection-error':
      return warn(`Redis: ${describeError(event.error)}`);
    case 'circuit-opened':
      return warn(
        `${redisAt(event)} failed the last lookups; the next ones go through unchecked. ${describeError(event.error)}`,
      );
    case 'circuit-closed':
      return log(
        `${redisAt(event)} answers again; ${plural(event.rejected, 'lookup')} went through unchecked.`,
      );
    case 'invalid-id':
      return warn(
        `Filter '${event.filter}': ${event.method ?? 'a lookup'} ${event.answered ? 'was answered without being called' : 'ran without the filter'}. ` +
          describeError(event.error),
      );
    case 'guard-error':
      return warn(
        `Filter '${event.filter}': ${event.operation} of ${event.method} failed, and the call went on without it. ${describeError(event.error)}`,
      );
    case 'attack-started':
      return warn(
        `Filter '${event.filter}' is under attack: ${perSecond(event.rate)} lookups of absent ids a second${through(event)}, ${Math.round(100 * event.share)} % of all lookups. ` +
          `Usual: ${perSecond(event.usualRate)} a second.${worst(event)}`,
      );
    case 'attack-ended':
      return log(
        `Filter '${event.filter}': the attack is over. It made ${plural(event.absents, 'lookup')} of absent ids in ${Math.round(event.durationMs / 1000)} s${through(event)}, ` +
          `at most ${perSecond(event.peakRate)} a second.${worst(event)}`,
      );
    case 'overload-started':
      return warn(
        `Filter '${event.filter}' cannot judge lookups, and refuses what exceeds ${plural(event.limit, 'running call')} (onUnknown).`,
      );
    case 'overload-ended':
      return log(
        `Filter '${event.filter}' has refused no call for five seconds. Before, in ${Math.round(event.durationMs / 1000)} s, ` +
          `${plural(event.refused, 'call')} that it could not judge were refused, and ${count(event.passed)} ran.`,
      );
    case 'state-changed':
      if (event.state === 'ready') return log(`Filter '${event.filter}' is ready. ${event.reason}`);
      return warn(
        `Filter '${event.filter}' is ${event.state}. ${event.reason} Lookups go through unchecked until it is ready again.`,
      );
    case 'wrong-absent':
      return {
        level: 'error',
        text:
          `Filter '${event.filter}' answers "absent" for ${printedId(event.id)}, and ${event.method} found something: ` +
          `${count(event.wrongAbsents)} of ${plural(event.absents, 'absent answer')}. ` +
          (event.distrusted
            ? 'Lookups go through unchecked until it is rebuilt.'
            : `It stays in service: to stop it, run npx @nestjs-bloom/cli mode '${event.filter}' shadow.`) +
          (event.guardOff
            ? ` ${event.method} lets every call through, until this process starts again.`
            : ''),
      };
    case 'overfull':
      return warn(
        `Filter '${event.filter}' holds ${plural(event.count, 'id')} and is planned for ${count(event.capacity)}; ${(100 * event.modelledErrorRate).toPrecision(2)} % of the lookups of absent ids pass. ${event.remedy}`,
      );
    case 'failed-adds':
      return warn(
        `Filter '${event.filter}': this process has added ${plural(event.ids, 'id')} for calls that failed, the last one of ${event.method}, and is planned for ` +
          `${count(event.capacity)}. Such ids have no row, and their lookups pass until the next rebuild. Refuse such calls before they add ids: by guards and pipes, or ` +
          "@BloomRegisters(…, { validate }). If nothing can tell before the row is written, add the id in the transaction: filter.add(id). See 'Validate and " +
          "authorise' in docs/security.md.",
      );
    case 'advice':
      return warn(`Filter '${event.filter}': ${withoutCode(event.text)}`);
    case 'copy-leased':
      return log(`Filter '${event.filter}': this process answers "absent" from its copy.`);
    case 'copy-unleased':
      return log(
        `Filter '${event.filter}': this process confirms absent ids with Redis until its copy has a lease again. ${event.reason}`,
      );
    case 'adds-delayed':
      return warn(
        `Filter '${event.filter}': adds of this process waited ${plural(event.times, 'time')} within a minute for half a lease or longer, ${duration(event.ms)} in all. A process that reads the ` +
          "filter with leases is stopped, busy, or cut from Redis, or processes die one after the other. Look for 'copy-unleased' in the others, or set replica: 'verified'.",
      );
    case 'other-owner':
      return { level: 'error', text: describeError(event.error) };
    case 'filter-claimed':
      return warn(
        `Filter '${event.filter}' at '${event.key}' was built by an application without an owner, or by an older version of nestjs-bloom. It ` +
          `belongs to '${event.owner}' now. Another application may have built it from rows of its own, so lookups go through until it has been rebuilt.`,
      );
    case 'newer-format':
      return warn(
        `Filter '${event.filter}' is stored in format ${event.found}; this version reads format ${event.supported}. Lookups go through unchecked.`,
      );
    case 'other-partitions':
      return { level: 'error', text: describeError(event.error) };
    case 'not-ready':
      return log(
        `Filter '${event.filter}' does not protect yet, since it is ${event.state}: lookups go through until ` +
          (event.isBuilt
            ? 'its first build in this or another process is live.'
            : "it is built, and rebuild.onBoot is 'never'."),
      );
    case 'rebuild-started':
      return log(
        `Filter '${event.filter}': a rebuild has started, for ${plural(event.capacity, 'id')} in ${size(event.bytes)}.` +
          (event.waitMs > 0
            ? ` It reads the source in ${event.waitMs / 1000} s, so that open transactions can commit (rebuild.drainMs).`
            : '') +
          (event.passes === undefined
            ? ''
            : ` It reads the source ${event.passes} times, so that it takes no more memory than rebuild.memoryMiB.`),
      );
    case 'rebuild-progress':
      // The only report of a scan without ids is that it begins.
      return event.progress.phase === 'scanning' && event.progress.idsRead === 0
        ? log(`Filter '${event.filter}': the rebuild reads the source.`)
        : undefined;
    case 'rebuild-replanned':
      return log(
        `Filter '${event.filter}': the source returned more ids than planned (${count(event.idsRead)} so far). The rebuild starts again, for ${plural(event.capacity, 'id')}.`,
      );
    case 'count-ignored':
      return warn(
        `Filter '${event.filter}': the build is planned without an answer of its source. ${describeError(event.error)}`,
      );
    case 'source-retried':
      return warn(
        `Filter '${event.filter}': its source failed and is read again. ${describeError(event.error)}`,
      );
    case 'normalize-chosen':
      return log(
        `Filter '${event.filter}': ids are normalized with \`${event.normalize}\`, because ${event.column}. Set the option \`normalize\` of the filter to override this.`,
      );
    case 'ids-skipped':
      return warn(
        `Filter '${event.filter}': the build left out ${plural(event.skipped, 'id')} of its source that cannot be added. The first one is ${event.example}. ${describeError(event.error)}`,
      );
    case 'rebuild-finished':
      return log(
        `Filter '${event.filter}': rebuilt with ${plural(event.ids, 'id')}${differentIds(event)} in ${duration(event.durationMs)}.`,
      );
    case 'rebuild-failed':
      if (event.error instanceof BloomRebuildError && event.error.reason === 'aborted')
        return log(event.error.message);
      return { level: 'error', text: describeError(event.error) };
    case 'clean-up-failed':
      return warn(
        `Filter '${event.filter}': a clean-up failed; the remaining keys expire automatically. ${describeError(event.error)}`,
      );
    case 'mode-changed':
      return log(
        `Filter '${event.filter}': ${event.by} ${event.withdrawn ? 'withdrew the mode of all instances' : `set the mode '${event.mode}' for all instances`} ` +
          `at ${event.at.toISOString()}.${event.withdrawn ? ` This one is in mode '${event.mode}'.` : ''}`,
      );
    case 'top-up-failed':
      return warn(
        `Filter '${event.filter}': rows that others have written could not be added; they are read again. ${describeError(event.error)}`,
      );
    case 'mark-moved-back':
      return warn(
        `Filter '${event.filter}': ${event.reason} ` +
          (event.to === undefined
            ? 'There is no mark until the next rebuild has set one.'
            : `The mark is ${event.to} now.`),
      );
    case 'feed-failed':
      return warn(
        `Filter '${event.filter}': its feed ended, and is tried again. ${describeError(event.error)}`,
      );
    case 'feed-gap':
      return warn(
        `Filter '${event.filter}': its feed may have missed rows, so it is rebuilt. ${event.reason}`,
      );
    case 'add-queued':
      return warn(
        `Filter '${event.filter}': ${plural(event.queued, 'id')} could not be added yet, and other instances may answer "absent" until that succeeds. ${describeError(event.error)}`,
      );
    case 'filter-missing':
      if (event.error !== undefined)
        return warn(`${event.method} ran unguarded. ${describeError(event.error)}`);
      return warn(
        `${event.method} ran unguarded: filter '${event.filter}' is not registered in this application. Import the module that has it in ` +
          'BloomModule.forFeature([…]), before the first call.',
      );
    case 'rebuild-skipped':
      return undefined;
  }
}

type Attack = Extract<BloomEvent, { type: 'attack-started' | 'attack-ended' }>;

function through({ method }: Attack): string {
  return method === undefined ? '' : `, most of them by ${method}`;
}

/** So many clients are named in the log. */
const NAMED_CLIENTS = 3;

function worst({ clients }: Attack): string {
  if (clients.length === 0) return '';
  const named = clients.slice(0, NAMED_CLIENTS).map(({ client, absents }) => `${client} (${count(absents)})`);
  return ` The worst clients are ${named.join(', ')}.`;
}

function perSecond(rate: number): string {
  return rate < 10 ? String(Math.round(rate * 10) / 10) : String(Math.round(rate));
}

/** More of them pass by chance than that in no filter. */
const SHARE_OF_CHANCE = 0.05;

function differentIds({ ids, distinctIds }: { readonly ids: number; readonly distinctIds: number }): string {
  return ids - distinctIds > ids * SHARE_OF_CHANCE ? `, about ${count(distinctIds)} different ones,` : '';
}

const warn = (text: string) => ({ level: 'warn', text }) as const;
const log = (text: string) => ({ level: 'log', text }) as const;
