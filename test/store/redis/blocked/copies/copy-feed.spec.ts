import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { FeedEntry } from '../../../../../src/store/index.js';
import { CopyFeed, type CopyFeedContext } from '../../../../../src/store/redis/blocked/copies/copy-feed.js';
import type { ReadStream, StreamEntry } from '../../../../../src/store/redis/client/stream-reader.js';

const LIST = 'list-1';
const PLACES = Buffer.from([7, 0, 0, 0, 9, 0, 0, 0]);
const STAGED_PLACES = Buffer.from([1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0]);
/** Longer than a message may take. */
const GRACE_MS = 50;

interface MessageParts {
  readonly list?: string;
  readonly places?: Buffer;
  /** What the message says of it. */
  readonly length?: string;
}

/** The stream and the channel of a feed, where the test says what comes. */
class Feed {
  /** From where the stream is read; undefined while it is not. */
  readFrom: string | undefined;
  readonly entries: FeedEntry[] = [];
  readonly unheard: (string | undefined)[] = [];
  distrusted = 0;
  isSubscribed = false;
  readonly followed: CopyFeed;
  private reading: ReadStream | undefined;

  constructor(after: number) {
    const streams = {
      read: (key: string, from: string, onEntries: ReadStream['onEntries']) => {
        this.readFrom = from;
        this.reading = { key, after: from, onEntries };
        return this.reading;
      },
      stop: () => (this.readFrom = this.reading = undefined),
    };
    const channels = {
      listen: () => (this.isSubscribed = true),
      stop: () => (this.isSubscribed = false),
      keep() {},
      distrust: () => this.distrusted++,
    };
    const context = {
      key: 'feed',
      streams,
      channels,
      onUnheard: (error?: string) => void this.unheard.push(error),
    };
    const listener = { onEntries: (read: readonly FeedEntry[]) => void this.entries.push(...read) };
    this.followed = new CopyFeed({ list: LIST, after }, listener, context as unknown as CopyFeedContext);
  }

  get numbers(): number[] {
    return this.entries.map(({ number }) => number);
  }

  message(
    number: number,
    { list = LIST, places = PLACES, length = String(places.length) }: MessageParts = {},
  ): void {
    this.followed.onMessage(
      Buffer.concat([Buffer.from(`${list} ${number} 1a2b3c4d 5e6f ${length} `), places, STAGED_PLACES]),
    );
  }

  read(...numbers: number[]): void {
    const staged = ['staged', '5e6f', 'places', PLACES, 'stagedPlaces', STAGED_PLACES];
    const fields = ['pad', '.', 'list', LIST, 'tag', '1a2b3c4d', ...staged].map((field) =>
      Buffer.from(field),
    );
    this.reading?.onEntries(numbers.map((number): StreamEntry => ({ id: `${number}-0`, fields })));
  }
}

let feed: Feed;
beforeEach(() => {
  jest.useFakeTimers();
  feed = new Feed(10);
});
afterEach(() => {
  feed.followed.stop();
  jest.useRealTimers();
});

/** Entries come as messages, and nothing else is read. */
function hear(): void {
  feed.followed.onHeard();
  feed.message(11);
}

describe('A feed that is followed', () => {
  it('is read as a stream until messages come', () => {
    expect(feed).toMatchObject({ readFrom: '10-0', isSubscribed: true });
    feed.read(11);
    feed.followed.onHeard();
    expect(feed.readFrom).toBe('10-0');
    feed.message(12);
    expect(feed.readFrom).toBeUndefined();
    feed.message(13);
    expect(feed.numbers).toEqual([11, 12, 13]);
  });

  it('gives places and tag of messages and of entries alike', () => {
    feed.read(11);
    feed.message(12);
    const stagedPlaces = new Uint32Array([1, 2, 3, 4]);
    const entry = {
      list: LIST,
      tag: 0x1a2b3c4d,
      places: new Uint32Array([7, 9]),
      staged: 0x5e6f,
      stagedPlaces,
    };
    expect(feed.entries).toEqual([
      { ...entry, number: 11, isMessage: false },
      { ...entry, number: 12, isMessage: true },
    ]);
  });

  it('has swaps, which have no places', () => {
    feed.followed.onMessage(Buffer.from(`${LIST} 11 0000abcd 0000abcd - `));
    expect(feed.entries).toEqual([
      { list: LIST, number: 11, tag: 0xabcd, staged: 0xabcd, places: undefined, isMessage: true },
    ]);
  });

  it('is read from the last entry on when a message shows that one is missing', () => {
    hear();
    feed.message(13);
    expect(feed.readFrom).toBe('11-0');
    feed.read(12, 13);
    expect(feed.entries.map(({ number, isMessage }) => [number, isMessage])).toEqual([
      [11, true],
      [13, true],
      [12, false],
      [13, false],
    ]);
  });

  it('is read when a renewal shows an entry that has not come as a message', () => {
    hear();
    feed.followed.written(12);
    expect(feed.readFrom).toBeUndefined();
    jest.advanceTimersByTime(GRACE_MS);
    expect(feed.readFrom).toBe('11-0');
  });

  it('is not read for a message that comes a little after the renewal', () => {
    hear();
    feed.followed.written(12);
    feed.message(12);
    jest.advanceTimersByTime(GRACE_MS);
    expect(feed.readFrom).toBeUndefined();
  });

  it('is read for longer each time that a message was missing', () => {
    hear();
    feed.message(13);
    feed.read(12, 13);
    feed.message(14);
    expect(feed.readFrom).toBe('11-0');
    feed.message(15);
    expect(feed.readFrom).toBeUndefined();
    feed.message(17);
    feed.read(16, 17);
    for (const number of [18, 19, 20]) feed.message(number);
    expect(feed.readFrom).toBe('15-0');
    feed.message(21);
    expect(feed.readFrom).toBeUndefined();
  });

  it('is read when the connection for messages has ended', () => {
    hear();
    feed.followed.onLost();
    expect(feed.readFrom).toBe('11-0');
    feed.read(12);
    expect(feed.readFrom).toBe('11-0');
    feed.message(13);
    expect(feed.readFrom).toBeUndefined();
  });

  it('is read where a message is of another list, of which nothing is taken', () => {
    hear();
    feed.message(12, { list: 'list-2' });
    expect(feed.readFrom).toBe('11-0');
    expect(feed.numbers).toEqual([11]);
  });

  it('takes nothing for a message that has another form', () => {
    hear();
    for (const text of [
      '',
      'x',
      `${LIST} 12`,
      `${LIST} 12 `,
      `${LIST} 12 1a2b3c4d - -`,
      `${LIST} 12 1a2b3c4d - - 8 bytes.`,
      `${LIST} twelve 1a2b3c4d - - `,
      `${LIST} 12 tag - - `,
      ` 12 1a2b3c4d - - `,
    ])
      feed.followed.onMessage(Buffer.from(text));
    feed.message(12, { places: Buffer.alloc(7) });
    for (const length of ['40', '-8', '4', '8.5', 'x', '']) feed.message(12, { length });
    expect(feed.numbers).toEqual([11]);
  });

  it('says so when entries never come as messages, and gives the connection up', () => {
    feed.followed.onHeard();
    for (let number = 11; number < 11 + 31; number++) feed.read(number);
    expect(feed).toMatchObject({ unheard: [], distrusted: 0 });
    feed.read(42);
    expect(feed).toMatchObject({ unheard: [undefined], distrusted: 1 });
  });

  it('says so when the server refuses the subscription, and is read', () => {
    feed.followed.onRefused('NOPERM');
    feed.read(11);
    expect(feed).toMatchObject({ unheard: ['NOPERM'], readFrom: '10-0', distrusted: 0 });
  });

  it('is left alone when it is followed no longer', () => {
    hear();
    feed.followed.written(12);
    feed.followed.stop();
    jest.advanceTimersByTime(GRACE_MS);
    expect(feed).toMatchObject({ readFrom: undefined, isSubscribed: false });
  });
});
