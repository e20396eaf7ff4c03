import type { ChannelListener, ChannelReader } from '../../client/channel-reader.js';
import { type Acknowledged, acknowledgedIn } from './copy-scripts.js';

/** It is listened to for so long after the last wait: the next one needs no question then. */
const HEARD_FOR_MS = 10_000;
/** So many waits in a row that ended by a question are no accident. */
const UNANNOUNCED_WAITS = 32;

export interface AcknowledgementChannelContext {
  readonly key: string;
  /** Undefined on a Cluster, where nobody reads with leases. */
  readonly channels: ChannelReader | undefined;
  /** All readers of this list have acknowledged the entries up to this one, as a run of the server says. */
  readonly onAnnounced: (list: string, least: Acknowledged, runId: string) => void;
  /** Called when waits have to ask again and again, with the error of the server if there is one. */
  readonly onUnannounced: (error?: string) => void;
}

/**
 * Hears what all readers have acknowledged, while adds wait for that. They ask as well: messages may be lost.
 */
export class AcknowledgementChannel implements ChannelListener {
  private isListening = false;
  private stopTimer: NodeJS.Timeout | undefined;
  /** The run of the server whose messages come. */
  private runId = '';
  /** A wait has ended by a question since the last message. */
  private isDoubted = false;
  /** Such waits in a row. */
  private unannounced = 0;

  constructor(private readonly context: AcknowledgementChannelContext) {}

  /** Whether what is acknowledged on this run of the server is heard at once. */
  tells(runId: string): boolean {
    return runId !== '' && this.runId === runId && !this.isDoubted;
  }

  listen(): void {
    clearTimeout(this.stopTimer);
    const { channels, key } = this.context;
    if (this.isListening) channels?.keep();
    else channels?.listen(key, this);
    this.isListening = true;
  }

  stopLater(): void {
    clearTimeout(this.stopTimer);
    this.stopTimer = setTimeout(() => this.close(), HEARD_FOR_MS).unref();
  }

  close(): void {
    clearTimeout(this.stopTimer);
    const { channels, key } = this.context;
    this.isListening = false;
    this.runId = '';
    channels?.stop(key, this);
  }

  /** A question has shown what no message had announced. */
  missed(): void {
    this.isDoubted = true;
    if (this.runId === '') return;
    this.unannounced++;
    if (this.unannounced < UNANNOUNCED_WAITS) return;
    this.context.onUnannounced();
    // It may be the connection.
    this.context.channels?.distrust();
  }

  onHeard(runId: string): void {
    this.runId = runId;
    this.isDoubted = false;
    this.unannounced = 0;
  }

  onLost(): void {
    this.runId = '';
  }

  onRefused(error: string): void {
    this.context.onUnannounced(error);
  }

  onMessage(message: Buffer): void {
    const [list = '', least = ''] = String(message).split(' ');
    if (!/^\d+$/.test(least)) return;
    this.isDoubted = false;
    this.unannounced = 0;
    this.context.onAnnounced(list, acknowledgedIn(least), this.runId);
  }
}
