import type { BloomEventListener } from '../../../../common/index.js';
import type { BlockedSnapshot } from '../blocked-meta.js';
import { NO_RECORDER, type StoreRecorder } from '../../../index.js';
import type { ChannelReader } from '../../client/channel-reader.js';
import type { RedisKeys } from '../../meta/redis-keys.js';
import { AcknowledgementChannel } from './acknowledgement-channel.js';
import { acknowledgementsUnannounced } from './copies.messages.js';
import type { Acknowledged, CopyScripts } from './copy-scripts.js';

/** A wait asks at the latest after this time; sooner while acknowledgements are not heard. */
const ASK_EVERY_MS = 100;
const FIRST_ASKED_MS = 1;
/** So many long waits within the window are no accident: a process that died delays adds once. */
const DELAYS = 3;
const DELAY_WINDOW_MS = 60_000;

/** What an add or a swap has to wait for before it is acknowledged, as its script says. */
export interface CopyWait {
  readonly for: 'nothing' | 'readers' | 'time';
  /** At most, in milliseconds. */
  readonly ms: number;
  readonly list: string;
  /** Number of the last entry. */
  readonly number: number;
}

interface Entry {
  readonly list: string;
  readonly number: number;
  /** Run id of the server that wrote it. */
  readonly runId: string;
}

interface Waiting extends Entry {
  end(): void;
}

/** All readers of a list have acknowledged the entries up to `least`. */
interface Announcement {
  readonly list: string;
  readonly least: Acknowledged;
  /** Run id of the server that reported it; undefined for the one that created the list. */
  readonly runId: string | undefined;
}

export interface CopyWaitsContext {
  readonly name: string;
  readonly emit: BloomEventListener;
  readonly keys: RedisKeys;
  readonly copyScripts: CopyScripts;
  /** Undefined where nobody counts. */
  readonly recorder?: StoreRecorder | undefined;
  readonly metadata: { isOfServer(snapshot: BlockedSnapshot): boolean };
  /** The longest lease that this process knows of, in milliseconds; 0: it knows of none. */
  readonly lostLeases: { readonly leaseMs: number };
  /** Undefined on a Cluster, where nobody reads with leases. */
  readonly channels: ChannelReader | undefined;
}

/** Adds and swaps of one filter that wait for readers to acknowledge an entry. */
export class CopyWaits {
  private readonly waiting = new Set<Waiting>();
  private readonly channel: AcknowledgementChannel;
  private last: Announcement | undefined;
  private isAsking = false;
  private isAdvised = false;
  private readonly alarm = new DelayAlarm();

  constructor(private readonly context: CopyWaitsContext) {
    this.channel = new AcknowledgementChannel({
      key: context.keys.acks,
      channels: context.channels,
      onAnnounced: (list, least, runId) => this.announced({ list, least, runId }),
      onUnannounced: (error) => this.adviseOnUnannounced(error),
    });
  }

  /** The same as `settle`, for an add. */
  async settleAdd(snapshot: BlockedSnapshot, wait: CopyWait | undefined): Promise<void> {
    const { recorder = NO_RECORDER, emit, name } = this.context;
    const since = performance.now();
    if (wait?.for !== 'readers' && this.pauseMs(snapshot, wait) <= 0) return;
    await this.settle(snapshot, wait);
    const ms = performance.now() - since;
    recorder.recordWait(ms);
    // An acknowledgement takes a round trip. Without one a wait ends with what is left of the lease.
    const isLong = ms >= (snapshot.leasesMs ?? ms) / 2;
    const report = isLong ? this.alarm.delayed(ms) : undefined;
    if (report) emit({ type: 'adds-delayed', filter: name, ...report });
  }

  /** Resolves when nobody answers any more from a copy that lacks what was written under this snapshot. */
  async settle(snapshot: BlockedSnapshot, wait: CopyWait | undefined): Promise<void> {
    const ms = this.pauseMs(snapshot, wait);
    if (ms > 0) await waitMs(ms);
    else if (wait?.for === 'readers') await this.waitFor({ ...wait, runId: snapshot.runId }, wait.ms);
  }

  /** How long nobody knows for whom to wait. */
  private pauseMs(snapshot: BlockedSnapshot, wait: CopyWait | undefined): number {
    const { metadata, lostLeases } = this.context;
    const { leasesMs = lostLeases.leaseMs, unseenUntil } = snapshot;
    // Another server may have carried it out: nobody knows then who has a lease.
    const isOther = !metadata.isOfServer(snapshot);
    const stated = wait?.for === 'time' ? wait.ms : 0;
    return Math.max(unseenUntil - performance.now(), isOther ? leasesMs : 0, stated);
  }

  /** Resolves when all readers have acknowledged the entry, none has a lease any more, or the time is up. */
  private async waitFor(entry: Entry, ms: number): Promise<void> {
    const until = performance.now() + ms;
    if (this.last && isOver(entry, this.last)) return;
    const { channel } = this;
    channel.listen();
    let isOverNow = false;
    let end = () => {};
    const ended = new Promise<void>((resolve) => (end = resolve));
    const { list, number, runId } = entry;
    const waiting: Waiting = {
      list,
      number,
      runId,
      end() {
        isOverNow = true;
        end();
      },
    };
    this.waiting.add(waiting);
    try {
      let pauseMs = channel.tells(runId) ? ASK_EVERY_MS : FIRST_ASKED_MS;
      for (;;) {
        const leftMs = until - performance.now();
        if (leftMs <= 0) return;
        await firstOf(ended, Math.min(leftMs, pauseMs));
        if (isOverNow) return;
        // A question asked from now on is answered with what was acknowledged before anything was heard.
        const isHeard = channel.tells(runId) && !this.isAsking;
        if (performance.now() < until) await Promise.race([ended, this.ask(list, ms)]);
        if (isOverNow) return;
        pauseMs = isHeard ? ASK_EVERY_MS : Math.min(2 * pauseMs, ASK_EVERY_MS);
      }
    } finally {
      this.waiting.delete(waiting);
      if (this.waiting.size === 0) channel.stopLater();
    }
  }

  close(): void {
    this.channel.close();
  }

  /** Whether that was waited for. */
  private announced(announcement: Announcement): boolean {
    if (isNews(announcement, this.last)) this.last = announcement;
    const over = [...this.waiting].filter((waiting) => isOver(waiting, announcement));
    for (const waiting of over) waiting.end();
    return over.length > 0;
  }

  private async ask(list: string, ms: number): Promise<void> {
    if (this.isAsking) return;
    this.isAsking = true;
    const { copyScripts, keys, emit, name } = this.context;
    try {
      const least = await copyScripts.acknowledged(keys, list, ms);
      if (this.announced({ list, least, runId: undefined })) this.channel.missed();
    } catch (error) {
      // The wait ends with the time at the latest.
      if (this.waiting.size > 0)
        emit({ type: 'store-error', filter: name, operation: 'ask what readers have acknowledged', error });
    } finally {
      this.isAsking = false;
    }
  }

  private adviseOnUnannounced(error: string | undefined): void {
    const { emit, name, keys } = this.context;
    if (!this.isAdvised)
      emit({ type: 'advice', filter: name, text: acknowledgementsUnannounced(keys.acks, error) });
    this.isAdvised = true;
  }
}

/** Notices that adds wait long for readers again and again. */
export class DelayAlarm {
  private delays: { readonly at: number; readonly ms: number }[] = [];
  private reportedAt = -Infinity;

  /**
   * Takes a long wait that has ended. Those that ran at the same time are one.
   *
   * @returns what to report, at most once in the window.
   */
  delayed(ms: number, now = performance.now()): { times: number; ms: number } | undefined {
    this.delays = this.delays.filter(({ at }) => now - at < DELAY_WINDOW_MS);
    if (this.delays.some(({ at }) => now - ms < at)) return undefined;
    this.delays.push({ at: now, ms });
    if (this.delays.length < DELAYS || now - this.reportedAt < DELAY_WINDOW_MS) return undefined;
    this.reportedAt = now;
    return { times: this.delays.length, ms: this.delays.reduce((sum, delay) => sum + delay.ms, 0) };
  }
}

/** Whether it says more than the last announcement. */
function isNews({ list, least, runId }: Announcement, last: Announcement | undefined): boolean {
  if (least === 'LIST' || runId === '') return false;
  const isOfSame = last?.list === list && last.runId === runId;
  return !isOfSame || last.least === 'LIST' || least > last.least;
}

function isOver(entry: Entry, { list, least, runId }: Announcement): boolean {
  const isOfServer = runId === undefined || (runId === entry.runId && runId !== '');
  return isOfServer && list === entry.list && least !== 'LIST' && least >= entry.number;
}

/** Resolves when the promise does or the time is up. The timer keeps no process alive. */
async function firstOf(ended: Promise<void>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const time = new Promise<void>((resolve) => (timer = setTimeout(resolve, Math.ceil(ms)).unref()));
  await Promise.race([ended, time]);
  clearTimeout(timer);
}

/** At least so many milliseconds: a timer may be early by a part of one. */
export async function waitMs(ms: number): Promise<void> {
  const until = performance.now() + ms;
  for (let left = ms; left > 0; left = until - performance.now()) {
    const pauseMs = Math.ceil(left);
    await new Promise((resolve) => setTimeout(resolve, pauseMs).unref());
  }
}
