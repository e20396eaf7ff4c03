import { BloomGuarded, BloomGuardedMany, BloomRegisters } from '../../src/index.js';

interface Named {
  readonly filterName: string;
}

/**
 * Never run: `npm run typecheck` fails when a line below does not compile, or one below an expectation does.
 */
export abstract class BaseRepository<T, Id extends string> implements Named {
  abstract readonly filterName: string;
  protected abstract readonly hidden: string;
  readonly page: number = 1;

  @BloomGuarded((self) => self.filterName)
  async untyped(_id: Id): Promise<T | null> {
    return null;
  }

  @BloomGuarded((self: Named) => self.filterName, { onAbsent: 'empty', id: (id: Id) => id })
  async list(_id: Id): Promise<T[]> {
    return [];
  }

  @BloomGuarded((self: BaseRepository<unknown, string>) => self.hidden)
  async ofClass(_id: Id): Promise<T | null> {
    return null;
  }

  @BloomGuardedMany((self: Named) => self.filterName, { key: (row: { id: string }) => row.id })
  async many(_ids: Id[]): Promise<({ id: string } | null)[]> {
    return [];
  }

  @BloomRegisters((self: Named) => self.filterName, { id: 'id' })
  async create(_row: { id: Id }): Promise<void> {}

  // @ts-expect-error The class has no such member.
  @BloomGuarded((self: { readonly filter: string }) => self.filter)
  async other(_id: Id): Promise<T | null> {
    return null;
  }

  // @ts-expect-error
  @BloomGuardedMany((self: { readonly filter: string }) => self.filter)
  async otherMany(_ids: Id[]): Promise<T[]> {
    return [];
  }

  // @ts-expect-error
  @BloomRegisters((self: { readonly filter: string }) => self.filter)
  async otherCreate(_id: Id): Promise<void> {}

  // @ts-expect-error A name is text.
  @BloomGuarded((self: BaseRepository<T, Id>) => self.page)
  async noText(_id: Id): Promise<T | null> {
    return null;
  }

  // @ts-expect-error BloomInterceptor leaves such a method alone.
  @BloomGuarded((self: Named) => self.filterName, { param: 'id' })
  async route(_id: Id): Promise<T | null> {
    return null;
  }

  // @ts-expect-error
  @BloomGuarded((self: Named) => self.filterName)
  async noId(_at: Date): Promise<T | null> {
    return null;
  }
}
