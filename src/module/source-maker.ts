import type { InjectionToken, Type } from '@nestjs/common';
import type { ModuleRef } from '@nestjs/core';
import { BloomConfigError } from '../common/index.js';
import { type BloomIdSource, expectAsync } from '../rebuild/index.js';
import type { BloomSourceFactory } from '../sources/index.js';
import { sourceNeedsProvider, sourceNotProvided, notASource, spellingIsNoGetter } from './module.messages.js';

/** Makes the source of one filter from providers of any module, when all of them exist. */
export class SourceMaker {
  /** What a filter is registered with, before the source is made. */
  readonly source: BloomIdSource = withLateMembers(
    {
      ids: (context) => (this.made ? this.made.ids(context) : this.idsOnceMade(context)),
      count: async () => (await this.make()).count?.(),
    },
    () => this.made,
  );
  private made: BloomIdSource | undefined;
  private making: Promise<BloomIdSource> | undefined;

  constructor(
    private readonly filter: string,
    private readonly from: Type<BloomIdSource> | BloomSourceFactory,
    private readonly moduleRef: ModuleRef,
    private readonly onMade: (source: BloomIdSource) => void,
  ) {}

  get isFactory(): boolean {
    return typeof this.from !== 'function';
  }

  /**
   * Whether the source may choose a spelling. A class does by a getter, which is known before an instance.
   */
  get mayKnowSpelling(): boolean {
    return typeof this.from !== 'function' || 'spelling' in this.from.prototype;
  }

  /** Table and column of the source, which is made for that. */
  readonly readsFrom = async (): Promise<string | undefined> => (await this.make()).readsFrom;

  /** @throws {BloomConfigError} for what is no provider, and for what is no source. */
  make(): Promise<BloomIdSource> {
    this.making ??= this.makeOnce().catch((error: unknown) => {
      this.making = undefined;
      throw error;
    });
    return this.making;
  }

  /** In place of `make`, where the source is not read. */
  takeIdsAsWritten(): void {
    this.onMade(this.source);
  }

  private async makeOnce(): Promise<BloomIdSource> {
    const { from } = this;
    const source = typeof from === 'function' ? this.provider(from) : await this.madeBy(from);
    if (typeof source?.ids !== 'function') {
      throw new BloomConfigError(notASource(this.filter, source));
    }
    if (!this.mayKnowSpelling && source.spelling) {
      throw new BloomConfigError(spellingIsNoGetter(this.filter, source.constructor.name));
    }
    this.made = source;
    this.onMade(source);
    return source;
  }

  private async *idsOnceMade(context: Parameters<BloomIdSource['ids']>[0]) {
    yield* expectAsync((await this.make()).ids(context), 'ids');
  }

  private madeBy({ inject = [], useFactory }: BloomSourceFactory): BloomIdSource | Promise<BloomIdSource> {
    const injected = inject.map((wanted) => {
      if (typeof wanted !== 'object' || !('token' in wanted)) return this.provider(wanted as InjectionToken);
      try {
        return this.provider(wanted.token);
      } catch (error) {
        if (wanted.optional) return undefined;
        throw error;
      }
    });
    return useFactory(...injected);
  }

  private provider<Provided>(token: InjectionToken<Provided>): Provided {
    try {
      return this.moduleRef.get<Provided>(token as Type<Provided>, { strict: false });
    } catch (cause) {
      const name = typeof token === 'function' ? token.name : String(token);
      const message = token === this.from ? sourceNotProvided : sourceNeedsProvider;
      throw new BloomConfigError(message(this.filter, name), { cause });
    }
  }
}

/** With what only the source that is made can say whether it has: undefined before. */
function withLateMembers(source: BloomIdSource, made: () => BloomIdSource | undefined): BloomIdSource {
  for (const name of ['idsSince', 'newest', 'openTransactions'] as const) {
    Object.defineProperty(source, name, { enumerable: true, get: () => made()?.[name]?.bind(made()) });
  }
  Object.defineProperty(source, 'idOrder', { enumerable: true, get: () => made()?.idOrder });
  return source;
}

/** Whether it is yet to be made from providers. */
export function isToBeMade(
  source: BloomIdSource | Type<BloomIdSource> | BloomSourceFactory,
): source is Type<BloomIdSource> | BloomSourceFactory {
  return (
    typeof source === 'function' || (typeof source === 'object' && source !== null && 'useFactory' in source)
  );
}
