import { afterEach, describe, expect, it } from '@jest/globals';
import type { TestingModule } from '@nestjs/testing';
import { type BloomEvent, type BloomIdSource, BloomModule, BloomService } from 'nestjs-bloom';
import { eventually } from '../support/eventually.js';
import { startContext } from '../support/nest-app.js';

const ROWS = 400;

describe('A row that is deleted while a rebuild reads, and its id removed', () => {
  let module: TestingModule | undefined;
  afterEach(() => module?.close());

  it('is no row that the filter lacks: what it is covered up to stays', async () => {
    const events: BloomEvent[] = [];
    let ids = Array.from({ length: ROWS }, (_, i) => i + 1);
    let whenRead = async () => {};
    const source: BloomIdSource = {
      idOrder: 'integer',
      async *ids() {
        yield ids;
        await whenRead();
      },
      async *idsSince(mark = 0) {
        yield ids.filter((id) => id > Number(mark));
      },
      newest: async (others = 0) => ids[ids.length - 1 - others],
      count: async () => ids.length,
    };
    module = await startContext({
      imports: [
        BloomModule.forRoot({ onEvent: (event) => events.push(event) }),
        BloomModule.forFeature({
          name: 'orders',
          source,
          rebuild: { drainMs: 0 },
          topUp: { everyMs: 20, overlapMs: 100 },
          audit: false,
        }),
      ],
    });
    const filter = module.get(BloomService).filter('orders');
    await eventually('it is covered', async () => (await filter.info()).outside?.mark !== undefined);
    whenRead = async () => {
      ids = ids.filter((id) => id !== 7);
      expect(await filter.remove(7)).toBe(true);
    };
    await filter.rebuild({ join: false });
    expect(events.filter(({ type }) => type === 'mark-moved-back')).toEqual([]);
    expect((await filter.info()).outside?.mark).toBeDefined();
    expect(await filter.check(8)).toBe('maybe');
  });
});
