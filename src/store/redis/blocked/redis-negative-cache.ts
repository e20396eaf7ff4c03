import { jittered } from '../../../common/index.js';
import type {
  DenialAnswer,
  SharedNegativeCacheOptions,
  DenialQuestion,
  SharedNegativeCache,
} from '../../index.js';
import { CircuitOpenError } from '../client/lookups-by-node.js';
import { BUCKET_DENIALS, denialDigest, NegativeCacheTable, MAX_BUCKETS } from './negative-cache-table.js';
import type { BlockedSnapshot } from './blocked-meta.js';
import type { BlockedContext } from './blocked-context.js';
import { batched } from '../client/tick-batcher.js';

/** A table that could not be made is tried again after this time. */
const MAKE_AGAIN_MS = 1_000;

const NOT_DENIED: DenialAnswer = { isDenied: false, note() {} };

export interface RedisNegativeCacheOptions extends SharedNegativeCacheOptions {
  readonly markLifeMs: number;
}

/**
 * How long nothing is noted in the bucket of an id that was added: until its row is visible, and once more as
 * long, should the clock of the server be set meanwhile.
 */
export function markLifeMs(drainMs: number): number {
  return 2 * drainMs + 1_000;
}

/**
 * The denials of one filter, in a table beside its live generation. Every add, of any process, marks the
 * bucket of its id in the script that sets the bits: what was denied there ends, and nothing is noted there
 * by who asked the database before all rows of the bucket are visible.
 */
export class RedisNegativeCache implements SharedNegativeCache {
  readonly ask: (question: DenialQuestion) => Promise<DenialAnswer> = batched(this.askTogether.bind(this));
  private isMaking = false;
  private makeAgainAt = -Infinity;

  constructor(
    private readonly context: BlockedContext,
    private readonly options: RedisNegativeCacheOptions,
  ) {}

  private async askTogether(questions: readonly DenialQuestion[]): Promise<DenialAnswer[]> {
    const { connection, emit, name, keys } = this.context;
    const since = Math.min(...questions.map((question) => question.since));
    try {
      const lookups = connection.nodes.of(keys.meta);
      if (lookups.isCircuitOpen) lookups.admit();
      return await lookups.settle(this.read(questions), since);
    } catch (error) {
      if (!(error instanceof CircuitOpenError))
        emit({ type: 'store-error', filter: name, operation: 'ask the negative cache', error });
      return questions.map(() => NOT_DENIED);
    }
  }

  private async read(questions: readonly DenialQuestion[]): Promise<DenialAnswer[]> {
    const { keys, negativeCacheScripts, metadata } = this.context;
    const snapshot = await metadata.current();
    const table = snapshot.live && snapshot.negativeCache;
    // One that another server made, or another run of this one, may lack marks of acknowledged adds.
    if (!table || table.runId !== snapshot.runId) {
      void this.make(snapshot);
      return questions.map(() => NOT_DENIED);
    }
    const asked = questions.map(({ id, scope }) => ({
      bucket: table.bucketOf(id),
      digest: denialDigest(id, scope),
    }));
    const reply = await negativeCacheScripts.ask(keys, table, asked);
    if (!metadata.isOfServer(snapshot)) return questions.map(() => NOT_DENIED);
    if (reply === 'STALE') metadata.forget();
    if (reply === 'LOST') void this.make(snapshot);
    if (typeof reply === 'string') return questions.map(() => NOT_DENIED);
    return asked.map(({ bucket, digest }, i) => ({
      isDenied: reply.flags[i] === '1',
      note: () => void this.note(snapshot, { table, bucket, digest, askedAt: reply.now }),
    }));
  }

  private async note(
    snapshot: BlockedSnapshot,
    denial: { table: NegativeCacheTable; bucket: number; digest: Buffer; askedAt: string },
  ): Promise<void> {
    const { keys, negativeCacheScripts, metadata, emit, name } = this.context;
    // Times of two servers cannot be compared.
    if (!metadata.isOfServer(snapshot)) return;
    const lifeMs = Math.round(jittered(this.options.lifeMs));
    try {
      await negativeCacheScripts.note(keys, { ...denial, lifeMs });
    } catch (error) {
      emit({ type: 'store-error', filter: name, operation: 'note a denial', error });
    }
  }

  /** Makes the table that the snapshot lacks, or another one for it. */
  private async make({ live, storedTag, runId, negativeCache }: BlockedSnapshot): Promise<void> {
    // Without its run id it would not be noticed that a server lost marks.
    if (!live || runId === '' || this.isMaking || performance.now() < this.makeAgainAt) return;
    this.isMaking = true;
    const { keys, negativeCacheScripts, metadata, emit, name } = this.context;
    const { maxIds, markLifeMs: lifeMs } = this.options;
    const buckets = Math.min(Math.ceil(maxIds / BUCKET_DENIALS), MAX_BUCKETS);
    try {
      await negativeCacheScripts.create(keys, {
        storedTag,
        before: negativeCache?.text ?? '',
        table: NegativeCacheTable.create(buckets, runId),
        markLifeMs: lifeMs,
      });
    } catch (error) {
      emit({ type: 'store-error', filter: name, operation: 'create the negative cache', error });
    } finally {
      metadata.forget();
      this.makeAgainAt = performance.now() + MAKE_AGAIN_MS;
      this.isMaking = false;
    }
  }
}
