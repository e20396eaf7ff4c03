import type { FeedEntry, FeedListener } from '../../../index.js';
import type { ChannelListener, ChannelReader } from '../../client/channel-reader.js';
import type { ReadStream, StreamEntry, StreamReader } from '../../client/stream-reader.js';

/** The stream is read until so many entries in a row came as messages; the number doubles with each miss. */
const FIRST_RUN = 1;
const LONGEST_RUN = 4096;
/** For a message that is on its way when a renewal shows its number. */
const GRACE_MS = 20;
/** So many entries that did not come as messages are no accident. */
const UNHEARD_ENTRIES = 32;

/** Where a reader is in which feed. */
export interface FeedPlace {
  readonly list: string;
  readonly after: number;
}

export interface CopyFeedContext {
  /** Key of the feed; the channel has its name. */
  readonly key: string;
  readonly streams: StreamReader;
  readonly channels: ChannelReader;
  /** Called when entries do not come as messages, with the error of the server if there is one. */
  readonly onUnheard: (error?: string) => void;
}

/**
 * One feed as a reader follows it. Entries come as messages, which costs the server a fraction of what it
 * takes to wake a reader of the stream; a message may be lost, or come late. So the stream is read instead
 * from the last entry on as soon as anything is missing, until messages have shown again that they come.
 */
export class CopyFeed implements ChannelListener {
  private after: number;
  private stream: ReadStream | undefined;
  private isHeard = false;
  /** Entries that have come as messages, one directly after the other, until the last one that did. */
  private run = 0;
  private lastMessage = 0;
  private neededRun = FIRST_RUN;
  /** Entries that came from the stream since the last message. */
  private unheard = 0;
  private grace: NodeJS.Timeout | undefined;

  constructor(
    private readonly place: FeedPlace,
    private readonly listener: FeedListener,
    private readonly context: CopyFeedContext,
  ) {
    this.after = place.after;
    this.readStream();
    context.channels.listen(context.key, this);
  }

  /** A renewal has shown that entries have been written up to this number. */
  written(number: number): void {
    this.context.channels.keep();
    if (this.stream || number <= this.after) return;
    clearTimeout(this.grace);
    this.grace = setTimeout(() => {
      if (number > this.after) this.missed();
    }, GRACE_MS);
    this.grace.unref();
  }

  stop(): void {
    clearTimeout(this.grace);
    this.leaveStream();
    this.context.channels.stop(this.context.key, this);
  }

  onHeard(): void {
    this.isHeard = true;
  }

  onLost(): void {
    this.isHeard = false;
    this.run = 0;
    this.readStream();
  }

  onRefused(error: string): void {
    this.context.onUnheard(error);
  }

  onMessage(message: Buffer): void {
    const entry = entryOfMessage(message);
    if (!entry) return;
    const { number } = entry;
    this.isHeard = true;
    this.unheard = 0;
    this.run = number === this.lastMessage + 1 ? this.run + 1 : 1;
    this.lastMessage = number;
    const isOfFeed = entry.list === this.place.list;
    const { after } = this;
    if (isOfFeed && number === after + 1) this.after = number;
    else if (!isOfFeed || number > after) this.missed();
    if (isOfFeed && number > after) this.listener.onEntries([entry]);
    this.leaveStreamWhenHeard();
  }

  private onRead(read: readonly StreamEntry[]): void {
    const entries = read.map(entryOf).filter(({ number }) => number > this.after);
    if (entries.length === 0) return this.leaveStreamWhenHeard();
    this.after = entries.at(-1)!.number;
    if (this.isHeard) {
      this.unheard += entries.length;
      if (this.unheard >= UNHEARD_ENTRIES) this.distrustMessages();
    }
    this.listener.onEntries(entries);
    this.leaveStreamWhenHeard();
  }

  private distrustMessages(): void {
    this.unheard = 0;
    this.context.onUnheard();
    // It may be the connection.
    this.context.channels.distrust();
  }

  private missed(): void {
    if (this.stream) return;
    this.run = 0;
    this.neededRun = Math.min(2 * this.neededRun, LONGEST_RUN);
    this.readStream();
  }

  /** What is missing comes at once. */
  private readStream(): void {
    const { streams, key } = this.context;
    this.stream ??= streams.read(key, `${this.after}-0`, (read) => this.onRead(read));
  }

  private leaveStreamWhenHeard(): void {
    const isUpToDate = this.lastMessage === this.after;
    if (this.isHeard && isUpToDate && this.run >= this.neededRun) this.leaveStream();
  }

  private leaveStream(): void {
    if (this.stream) this.context.streams.stop(this.stream);
    this.stream = undefined;
  }
}

/** An entry of another form is of a list of its own: whoever follows another one drops its copy. */
function entryOf({ id, fields }: StreamEntry): FeedEntry {
  const values = new Map<string, Buffer>();
  for (let i = 0; i + 1 < fields.length; i += 2) values.set(String(fields[i]), fields[i + 1]!);
  const places = values.get('places');
  const stagedPlaces = values.get('stagedPlaces');
  return {
    list: String(values.get('list') ?? ''),
    number: Number.parseInt(id, 10),
    tag: tagIn(String(values.get('tag') ?? '')) ?? 0,
    places: places && placesIn(places),
    staged: tagIn(String(values.get('staged') ?? '')),
    stagedPlaces: stagedPlaces && placesIn(stagedPlaces),
    isMessage: false,
  };
}

const SPACE = 32;
const PLACE_BYTES = 8;
/** Bytes that the words of a message have at most; they have about 60. */
const LONGEST_WORDS = 128;

/**
 * List, number, tag, tag of the staging and length of the places in words, and then the places and those in
 * the staging as they are; `-` for what there is not. Undefined for what has another form: the stream says
 * what it is.
 */
function entryOfMessage(message: Buffer): FeedEntry | undefined {
  const words = message.toString('latin1', 0, LONGEST_WORDS).split(' ', 5);
  let at = 0;
  for (const { length } of words) at += length + 1;
  if (words.length < 5 || message[at - 1] !== SPACE) return undefined;
  const [list, number, tag, staged, length] = words as [string, string, string, string, string];
  const isSwap = length === '-';
  const split = isSwap ? at : at + (/^\d+$/.test(length) ? Number(length) : NaN);
  const isWhole = (split - at) % PLACE_BYTES === 0 && (message.length - split) % PLACE_BYTES === 0;
  const isInside = isSwap ? split === message.length : split <= message.length;
  const tagOfEntry = tagIn(tag);
  const entryNumber = Number(number);
  if (list === '' || !Number.isInteger(entryNumber) || tagOfEntry === undefined || !isWhole || !isInside)
    return undefined;
  // Written out: a spread takes longer than all the rest.
  return {
    list,
    number: entryNumber,
    tag: tagOfEntry,
    places: isSwap ? undefined : placesIn(message, at, split),
    staged: tagIn(staged),
    stagedPlaces: isSwap ? undefined : placesIn(message, split),
    isMessage: true,
  };
}

function tagIn(text: string): number | undefined {
  return /^[0-9a-f]{1,8}$/.test(text) ? Number.parseInt(text, 16) : undefined;
}

function placesIn(bytes: Buffer, from = 0, to = bytes.length): Uint32Array {
  const places = new Uint32Array((to - from) / 4);
  for (let i = 0; i < places.length; i++) places[i] = bytes.readUInt32LE(from + 4 * i);
  return places;
}
