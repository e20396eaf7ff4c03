import { Injectable, Logger, Scope } from '@nestjs/common';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { Test } from '@nestjs/testing';
import {
  BloomConfigError,
  type BloomEvent,
  type BloomEventOf,
  BloomModule,
  BloomService,
  OnBloomEvent,
} from 'nestjs-bloom';
import { eventually } from '../support/eventually.js';
import { startContext } from '../support/nest-app.js';

const products = {
  name: 'products',
  capacity: 100,
  source: {
    async *ids() {
      yield ['a'];
    },
  },
  rebuild: { onBoot: 'never', drainMs: 0 },
} as const;

const root = BloomModule.forRoot({ filters: [products] });

@Injectable()
class Alarms {
  readonly seen: BloomEvent[] = [];

  @OnBloomEvent('rebuild-started', 'rebuild-finished')
  onRebuild(event: BloomEventOf<'rebuild-started' | 'rebuild-finished'>) {
    this.seen.push(event);
  }
}

describe('@OnBloomEvent', () => {
  it('calls a method of a provider for the events of its types alone, on the provider', async () => {
    const module = await startContext({
      imports: [root],
      providers: [Alarms, { provide: 'ALIAS', useExisting: Alarms }],
    });
    await module.get(BloomService).filter('products').rebuild();
    expect(module.get(Alarms).seen.map(({ type }) => type)).toEqual(['rebuild-started', 'rebuild-finished']);
    await module.close();
  });

  it('calls a method without a type for all, a method of a class that is extended, and one that a factory made', async () => {
    class All extends Alarms {
      readonly all: string[] = [];

      @OnBloomEvent()
      onAny({ type }: BloomEvent) {
        this.all.push(type);
      }
    }
    const module = await startContext({
      imports: [root],
      providers: [{ provide: 'ALL', useFactory: () => new All() }],
    });
    await module.get(BloomService).filter('products').rebuild();
    const { all, seen } = module.get<All>('ALL');
    expect(all).toEqual(
      expect.arrayContaining(['not-ready', 'rebuild-started', 'rebuild-progress', 'rebuild-finished']),
    );
    expect(seen).toHaveLength(2);
    await module.close();
  });

  it('hands over what was reported before the modules were initialised', async () => {
    @Injectable()
    class Early {
      readonly missing: string[] = [];

      @OnBloomEvent('filter-missing')
      onMissing({ method }: BloomEventOf<'filter-missing'>) {
        this.missing.push(method);
      }
    }
    const module = await Test.createTestingModule({ imports: [root], providers: [Early] }).compile();
    module.get(BloomService).emit({ type: 'filter-missing', filter: 'x', method: 'A.b' });
    await module.init();
    module.get(BloomService).emit({ type: 'filter-missing', filter: 'x', method: 'A.c' });
    expect(module.get(Early).missing).toEqual(['A.b', 'A.c']);
    await module.close();
  });

  it('logs what a handler throws or rejects with, and calls the others', async () => {
    const error = jest.spyOn(Logger.prototype, 'error').mockImplementation(() => {});
    @Injectable()
    class Failing {
      @OnBloomEvent('rebuild-finished')
      throws() {
        throw new Error('thrown');
      }

      @OnBloomEvent('rebuild-finished')
      async rejects() {
        throw new Error('rejected');
      }
    }
    const module = await startContext({ imports: [root], providers: [Failing, Alarms] });
    await module.get(BloomService).filter('products').rebuild();
    expect(module.get(Alarms).seen).toHaveLength(2);
    const texts = () =>
      error.mock.calls.map(([text]) => String(text)).filter((text) => text.includes('A listener failed'));
    await eventually('both are logged', async () => texts().length === 2);
    expect(texts().join()).toMatch(/thrown.*rejected/s);
    await module.close();
  });

  it.each([
    ['request-scoped', Scope.REQUEST],
    ['transient', Scope.TRANSIENT],
  ])('is an error at start on a provider that is %s', async (_, scope) => {
    @Injectable({ scope })
    class Scoped {
      @OnBloomEvent('advice')
      onAdvice() {}
    }
    await expect(startContext({ imports: [root], providers: [Scoped] })).rejects.toThrow(
      /@OnBloomEvent\(\) on Scoped\.onAdvice: expected a provider of which the application has one/,
    );
  });

  it('names the type that is meant, and is refused on what is no method', () => {
    expect(() => OnBloomEvent('rebuild-fail' as never)).toThrow(
      /got 'rebuild-fail'. Did you mean 'rebuild-failed'\?/,
    );
    expect(() => OnBloomEvent('x'.repeat(30) as never)).toThrow(/Types are store-error, connection-error, /);
    class Statics {
      static make() {}
    }
    const descriptor = Object.getOwnPropertyDescriptor(Statics, 'make')!;
    expect(() => OnBloomEvent('advice')(Statics, 'make', descriptor)).toThrow(BloomConfigError);
    expect(() => OnBloomEvent('advice')(Statics, 'make', descriptor)).toThrow(/got Statics\.make/);
  });

  it('takes only methods that take the events', () => {
    class Mistaken {
      // @ts-expect-error -- an `advice` has no error
      @OnBloomEvent('advice')
      onAdvice(event: BloomEventOf<'rebuild-failed'>) {
        return event;
      }
    }
    expect(Mistaken).toBeDefined();
    // @ts-expect-error -- there is no such event
    expect(() => OnBloomEvent('advices')).toThrow(BloomConfigError);
  });
});

describe('The log', () => {
  afterEach(() => void jest.restoreAllMocks());

  it.each([
    ['is written beside onEvent', {}, true],
    ['is written when asked for', { logger: true }, true],
    ['is off when that is asked for', { logger: false }, false],
  ])('%s', async (_, options, isWritten) => {
    const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => {});
    const event = { type: 'advice', filter: 'of the log', text: 'Look here.' } as const;
    const events: BloomEvent[] = [];
    const module = await startContext({
      imports: [
        BloomModule.forRoot({ ...options, onEvent: (event) => events.push(event), filters: [products] }),
      ],
    });
    module.get(BloomService).emit(event);
    expect(events).toContainEqual(event);
    expect(warn.mock.calls.some(([text]) => String(text).includes('Look here.'))).toBe(isWritten);
    await module.close();
  });
});
