import { type Exchange, setHeaders } from './exchange.js';

/**
 * So many ticks in a row that a viewer could not take: it is let go, and its page opens the stream anew when
 * it can.
 */
const MOST_SKIPPED = 10;
/** After that the page opens the stream anew, and has to show again that it may. */
const LIFE_MS = 10 * 60_000;
/** How long the browser waits before it opens the stream again. */
const RETRY_MS = 1_000;

export interface ViewerOptions {
  /** The filter that its page shows in full. */
  readonly filter: string | undefined;
  readonly canAct: boolean;
  readonly now: number;
  onClose(viewer: Viewer): void;
}

/** One open page: a stream of server-sent events. At most one tick waits in its buffer. */
export class Viewer {
  readonly filter: string | undefined;
  readonly canAct: boolean;
  /** Whether it has missed something, or has had nothing yet. */
  needsBacklog = true;
  private skipped = 0;
  private readonly openedAt: number;

  constructor(
    private readonly exchange: Exchange,
    { filter, canAct, now, onClose }: ViewerOptions,
  ) {
    this.filter = filter;
    this.canAct = canAct;
    this.openedAt = now;
    const { response, message } = exchange;
    setHeaders(response);
    response.setHeader('content-type', 'text/event-stream; charset=utf-8');
    // nginx would keep what is written until a buffer is full.
    response.setHeader('x-accel-buffering', 'no');
    // With the stream its connection ends: no idle one holds up a shutdown.
    if (message.httpVersionMajor === 1) response.setHeader('connection', 'close');
    response.statusCode = 200;
    response.on('close', () => onClose(this));
    response.on('error', () => {});
    response.write(`retry: ${RETRY_MS}\n\n`);
  }

  /** Whether it can take what is new now; one that never can is let go. */
  isReady(now: number): boolean {
    const { response } = this.exchange;
    if (response.destroyed || response.writableEnded) return false;
    if (now - this.openedAt > LIFE_MS) {
      response.end();
      return false;
    }
    if (!response.writableNeedDrain) {
      this.skipped = 0;
      return true;
    }
    this.needsBacklog = true;
    if (++this.skipped > MOST_SKIPPED) response.destroy();
    return false;
  }

  /** @param data JSON, which has no line ends. */
  send(event: string, data: string): void {
    this.exchange.response.write(`event: ${event}\ndata: ${data}\n\n`);
  }

  close(): void {
    const { response } = this.exchange;
    if (response.writableNeedDrain) response.destroy();
    else response.end();
  }
}
