import { LogicalReplicationService } from 'pg-logical-replication';
import type { Client, ClientConfig } from 'pg';
import type { BloomFeedContext } from 'nestjs-bloom';
import { CommittedIds } from './committed-ids.js';
import { movedSlot, textOfPosition } from './feed-slot.js';
import { type LogMessage, LogPlugin } from './log-plugin.js';
import { lsnOf, textOfLsn } from './lsn.js';
import type { PostgresFeedOptions } from './postgres-feed-options.js';
import { SILENT, STREAM_ENDED } from './postgres-feed.messages.js';
import type { TableWatch } from './table-watch.js';

const LOOK_EVERY_MS = 1000;
/**
 * With each of so many looks the table is compared, and Postgres is told how far this has come and asked
 * where its log ends. It ends a connection that says nothing for a minute.
 */
const LOOKS_PER_STATUS = 5;
/**
 * Postgres answers each of these statuses. One that says nothing for so long is behind a network that drops
 * what is sent.
 */
const SILENT_MS = 30_000;
/** Longest time that an end waits for Postgres. */
const END_WITHIN_MS = 2000;

export interface ReplicationOptions extends Pick<PostgresFeedOptions, 'column' | 'publication' | 'slot'> {
  readonly config: ClientConfig;
  /** For questions to the catalog. */
  readonly client: Client;
  /** Where the slot begins. */
  readonly confirmed: string;
  /** Names the server and its line. */
  readonly server: string;
  readonly watch: TableWatch;
}

type Relation = Extract<LogMessage, { tag: 'relation' }>;

/** One connection that reads the log. */
export class Replication {
  private readonly service: LogicalReplicationService;
  private readonly plugin: LogPlugin;
  private readonly ids: CommittedIds;
  private handled = 0;
  private looks = 0;
  /** When Postgres was heard last, by `performance.now()`. */
  private heardAt = performance.now();
  /** Messages that are being handled, which hold up those that wait behind them. */
  private taking = 0;
  private isInTransaction = false;
  /**
   * Resolves when it is known whether the slot is the one that was looked at. Until then nothing is noted.
   */
  private begun: Promise<void> | undefined;
  private hasBegun = false;
  private end: bigint;
  private fail: (error: unknown) => void = () => {};
  private hasEnded = false;

  constructor(
    private readonly options: ReplicationOptions,
    private readonly context: BloomFeedContext,
  ) {
    const { config, publication, confirmed, server, watch } = options;
    this.end = lsnOf(confirmed);
    this.plugin = new LogPlugin(publication);
    // What was received is not what was added: only this class acknowledges.
    const acknowledge = { auto: false, timeoutSeconds: 0 } as const;
    this.service = new LogicalReplicationService(config, { acknowledge, flowControl: { enabled: true } });
    this.ids = new CommittedIds(
      {
        add: (ids) => context.add(ids),
        save: (lsn) => context.save(textOfPosition(lsn, server, watch.table.print)),
      },
      this.end,
      () => this.tell(),
      (error) => this.fail(error),
    );
  }

  /** Resolves when the signal aborts. Rejects when the replication cannot go on. */
  async run(): Promise<void> {
    const { service } = this;
    const { signal } = this.context;
    const timer = setInterval(() => this.look(), LOOK_EVERY_MS);
    try {
      await new Promise<void>((resolve, reject) => {
        this.fail = (error) => {
          this.hasEnded = true;
          reject(error);
        };
        signal.addEventListener('abort', () => resolve(), { once: true });
        if (signal.aborted) resolve();
        service.on('error', (error) => this.fail(error));
        service.on('start', () => {
          this.begun = this.begin().catch((error: unknown) => this.fail(error));
        });
        service.on('data', (lsn: string, message: LogMessage) => this.take(lsn, message));
        service.on('heartbeat', (lsn, _time, shouldRespond) => this.hearEnd(lsn, shouldRespond));
        service.subscribe(this.plugin, this.options.slot).then(
          () => this.fail(new Error(STREAM_ENDED)),
          (error: unknown) => this.fail(error),
        );
      });
    } finally {
      this.hasEnded = true;
      clearInterval(timer);
      await this.close();
    }
  }

  private async begin(): Promise<void> {
    const { client, slot, confirmed } = this.options;
    const gap = await movedSlot(client, slot, confirmed);
    if (this.hasEnded) return;
    if (gap !== undefined) this.context.missed(gap);
    this.hasBegun = true;
    this.tell(true);
    this.ids.retry();
  }

  private look(): void {
    if (this.taking === 0 && performance.now() - this.heardAt > SILENT_MS) {
      this.fail(new Error(SILENT));
      return;
    }
    if (!this.hasBegun) return;
    this.ids.retry();
    if (++this.looks % LOOKS_PER_STATUS !== 0) return;
    this.tell(true);
    this.options.watch.look().catch((error: unknown) => this.fail(error));
  }

  private async take(lsn: string, message: LogMessage): Promise<void> {
    // What comes after a failure must not be acknowledged before it.
    if (this.hasEnded) return;
    this.taking++;
    try {
      await this.begun;
      await this.handle(message);
      this.handled++;
      this.noteEnd(lsnOf(lsn));
    } catch (error) {
      this.fail(error);
    } finally {
      this.taking--;
      this.heardAt = performance.now();
    }
  }

  private async handle(message: LogMessage): Promise<void> {
    switch (message.tag) {
      case 'begin':
        this.isInTransaction = true;
        return;
      case 'relation':
        // It may have become a part of the table, or another form of it, since the catalog was asked.
        if (!this.columnIn(message)) await this.options.watch.look();
        return;
      case 'insert':
      case 'update':
        return this.takeRow(message.relation, message.new);
      case 'commit':
        this.isInTransaction = false;
        if (message.commitEndLsn !== null) this.ids.reach(lsnOf(message.commitEndLsn));
        return;
      case 'broken':
        throw message.error;
      default:
    }
  }

  private async takeRow(relation: Relation, row: Readonly<Record<string, unknown>>): Promise<void> {
    const column = this.columnIn(relation);
    if (!column) return;
    const text = row[column.name] as string | null | undefined;
    // Undefined: a long value that an update has left as it was.
    if (text === null || text === undefined) return;
    await this.ids.take(this.options.watch.table.isBytes ? bytesOf(text) : text);
  }

  /** Undefined in another table, and in a former form of this one: rows of that are older than a gap. */
  private columnIn({ relationOid, columns }: Relation): Relation['columns'][number] | undefined {
    const { column, watch } = this.options;
    const type = watch.table.types.get(relationOid >>> 0);
    return columns.find(({ name, typeOid }) => name === column && typeOid >>> 0 === type);
  }

  /** Where nothing of the table is committed, the log grows all the same. */
  private hearEnd(text: string, shouldRespond: boolean): void {
    const lsn = lsnOf(text);
    this.heardAt = performance.now();
    this.noteEnd(lsn);
    const isCaughtUp =
      this.hasBegun && this.handled === this.plugin.received && !this.isInTransaction && !this.hasEnded;
    if (isCaughtUp) this.ids.reach(lsn);
    if (shouldRespond) this.tell();
    else this.report();
  }

  private noteEnd(lsn: bigint): void {
    if (lsn > this.end) this.end = lsn;
  }

  /** Tells Postgres up to where all ids have been added. */
  private tell(asksForEnd = false): void {
    this.report();
    const { position } = this.ids;
    if (this.hasEnded || !this.hasBegun || position <= 0n) return;
    // The client adds one. A commit that begins right at the position would be skipped after a restart.
    void this.service
      .acknowledge(textOfLsn(position - 1n), asksForEnd)
      .catch((error: unknown) => this.fail(error));
  }

  private report(): void {
    const { position } = this.ids;
    const behindBytes = this.end > position ? Number(this.end - position) : 0;
    this.context.report({ position: textOfLsn(position), behindBytes });
  }

  private async close(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, END_WITHIN_MS)));
    await Promise.race([
      this.service.stop().then(
        () => {},
        () => {},
      ),
      late,
    ]);
    clearTimeout(timer);
  }
}

/** Postgres writes them as `\x1f` here. */
function bytesOf(text: string): Buffer {
  return Buffer.from(text.slice(2), 'hex');
}
