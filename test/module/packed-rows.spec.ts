import { expect, it } from '@jest/globals';
import { type BloomEvent, type BloomIdSource, BloomModule, BloomService } from 'nestjs-bloom';
import { packableIds } from 'nestjs-bloom/sources';
import { eventually } from '../support/eventually.js';
import { startContext } from '../support/nest-app.js';

const ROWS = 400;

it('A covered filter reads its rows packed, where its source can pack them, and finds rows that it lacks', async () => {
  // The largest gaps between rows are not covered.
  const ids = Array.from({ length: ROWS }, (_, i) => (i < 20 ? 50 * i : 1000 + 2 * i));
  const events: BloomEvent[] = [];
  let packs = 0;
  const source: BloomIdSource = {
    idOrder: 'integer',
    ids: () => ({
      ...packableIds(async function* () {
        packs++;
        const texts = ids.map((id) => Buffer.from(String(id)));
        let end = 0;
        const ends = Uint32Array.from(texts, ({ length }) => (end += length));
        yield { bytes: Buffer.concat(texts), ends, count: ids.length, areText: true };
      }, undefined),
      [Symbol.asyncIterator](): never {
        throw new Error('Expected the ids to be read packed.');
      },
    }),
    async *idsSince(mark = 0) {
      yield ids.filter((id) => id > Number(mark));
    },
    newest: async (others = 0) => ids[ids.length - 1 - others],
    count: async () => ids.length,
  };
  const module = await startContext({
    imports: [
      BloomModule.forRoot({ onEvent: (event) => events.push(event) }),
      BloomModule.forFeature({
        name: 'orders',
        source,
        layout: 'blocked',
        rebuild: { drainMs: 0 },
        topUp: { everyMs: 20, overlapMs: 100 },
        audit: false,
      }),
    ],
  });
  try {
    const filter = module.get(BloomService).filter('orders');
    await eventually('it is covered', async () => (await filter.info()).outside?.mark !== undefined);
    expect(packs).toBe(1);
    expect(new Set(await filter.checkMany(ids))).toEqual(new Set(['maybe']));
    // A row that somebody has written before the mark.
    ids.splice(30, 0, 1059);
    await filter.rebuild({ join: false });
    expect(packs).toBe(2);
    expect(events.filter(({ type }) => type === 'mark-moved-back')).toEqual([
      expect.objectContaining({ reason: expect.stringContaining('1059') }),
    ]);
  } finally {
    await module.close();
  }
});
