import type { BloomFilterState } from '../../src/common/index.js';
import { BLOCK_BYTES, BlockedFilter, type Generation, type IdKey } from '../../src/filter/index.js';
import type {
  BlockListener,
  BloomVerdict,
  CopyableDescription,
  CopyableFilter,
  CopyableStore,
  LeaseServer,
} from '../../src/store/index.js';
import { outcomesOf } from '../../src/store/redis/meta/unknown-reason.js';
import { testGeneration } from './built-filter.js';

/** A filter whose blocks are handed out when the test says so. */
export class CopyableOriginal implements CopyableStore {
  readonly kind = 'original';
  live: BlockedFilter | undefined;
  /** What a description says while nothing is live. */
  state: BloomFilterState = 'lost';
  /** What a rebuild makes beside it. */
  staging: BlockedFilter | undefined;
  readonly asked: IdKey[][] = [];
  readonly pieces: { first: number; answer: (failure?: Error) => void }[] = [];
  describes = 0;
  duringCheck = async () => {};
  duringAdd = async () => {};
  duringDescribe = async () => {};
  leases: LeaseServer | undefined;
  /** Whether a piece has what was live when it was asked for, however late the answer comes. */
  readsWhenAsked = false;
  private onBlocks: BlockListener | undefined;

  swap(ids: readonly string[], capacity = 20_000): Generation {
    this.live = filterOf(ids, capacity);
    this.staging = undefined;
    return this.live.generation;
  }

  stage(ids: readonly string[], capacity = 20_000): void {
    this.staging = filterOf(ids, capacity);
  }

  goLive(): void {
    this.live = this.staging;
    this.staging = undefined;
  }

  open(): CopyableFilter {
    return this.openCopyable({});
  }

  openCopyable({ onBlocks }: { onBlocks?: BlockListener }): CopyableFilter {
    this.onBlocks = onBlocks;
    const refuse = () => Promise.reject(new Error('not part of this test'));
    return {
      board: undefined,
      leases: this.leases,
      highWaterMarks: undefined,
      negativeCache: undefined,
      generation: undefined,
      status: { state: 'ready', isCircuitOpen: false },
      check: (ids) => this.check(ids),
      checkOne: async (id) => outcomesOf(await this.check([id]))[0]!,
      add: async (ids) => {
        await this.duringAdd();
        return ids.map((id) => this.live!.addKey(id));
      },
      describe: async () => {
        this.describes++;
        await this.duringDescribe();
        const state = this.live ? 'ready' : this.state;
        return { generation: this.live?.generation, state } as CopyableDescription;
      },
      readBlocks: (first, count) => this.read(() => this.live!, first, count),
      staged: async (tag) => {
        const { staging } = this;
        if (staging?.generation.tag !== tag) return undefined;
        const { generation } = staging;
        return { generation, readBlocks: (first, count) => this.read(() => staging, first, count) };
      },
      measureFill: async () => undefined,
      verify: async () => {},
      distrust: async () => true,
      advise: refuse,
      lease: refuse,
      close: async () => {},
    };
  }

  async close(): Promise<void> {}

  /** Answers pieces until none is asked for; their number. */
  async answerAll(): Promise<number> {
    let answered = 0;
    for (; this.pieces.length > 0; answered++) {
      this.pieces.shift()!.answer();
      await settled();
    }
    return answered;
  }

  private async check(ids: readonly IdKey[]): Promise<BloomVerdict[]> {
    this.asked.push([...ids]);
    const { live } = this;
    if (!live) return ids.map(() => 'unknown');
    const { layout, generation, bytes } = live;
    const numbers = ids.map((id) => (layout.locate(id), layout.block));
    const blocks = numbers.map((n) => bytes.slice(n * BLOCK_BYTES, (n + 1) * BLOCK_BYTES));
    const verdicts = ids.map((id) => (live.mightContainKey(id) ? 'maybe' : 'absent'));
    await this.duringCheck();
    this.onBlocks?.({ generation, numbers, blocks });
    return verdicts;
  }

  private read(from: () => BlockedFilter, first: number, count: number): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      const read = () => from().bytes.slice(first * BLOCK_BYTES, (first + count) * BLOCK_BYTES);
      const asked = this.readsWhenAsked ? read() : undefined;
      const answer = (failure?: Error) => (failure ? reject(failure) : resolve(asked ?? read()));
      this.pieces.push({ first, answer });
    });
  }
}

function filterOf(ids: readonly string[], capacity: number): BlockedFilter {
  const filter = new BlockedFilter(testGeneration({ capacity }));
  for (const id of ids) filter.add(id);
  return filter;
}

/** All promises that wait for nothing but one another. */
export async function settled(): Promise<void> {
  for (let i = 0; i < 20; i++) await Promise.resolve();
}
