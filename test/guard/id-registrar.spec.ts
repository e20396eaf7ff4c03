import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { BloomIdError, BloomUnavailableError } from '../../src/common/index.js';
import type { BloomId } from '../../src/filter/index.js';
import { BloomGuardRunner, type Registration } from '../../src/guard/index.js';
import { eventually } from '../support/eventually.js';
import { GuardedProviders } from './support/guarded-providers.js';

const filter = 'products';
const down = new BloomUnavailableError('The store is down.');

describe('A registrar that is told which ids a write turned out to have', () => {
  let app: GuardedProviders;
  let registrar: BloomGuardRunner['registrar'];
  const before = (...ids: BloomId[]) => registrar.register({ filter, ids, onError: 'throw' });
  const written = (registration: Registration, ...ids: unknown[]) =>
    registrar.registerWritten(registration, ids, 'Products.create');
  const advice = () => app.events.filter(({ type }) => type === 'advice');

  beforeEach(async () => {
    app = new GuardedProviders();
    registrar = (await app.start([])).get(BloomGuardRunner).registrar;
  });

  afterEach(() => app.close());

  it('adds nothing where they are those that were added before, in any order and spelling', async () => {
    const registration = await before('a', '7', 'ü');
    expect(await written(registration, 7n, Buffer.from('ü'), 'a', null, undefined)).toBe(registration);
    expect(app.products.addCalls).toHaveLength(1);
    expect(app.events).toEqual([]);
  });

  it('adds the others, and names the write once', async () => {
    const registration = await before('a', 'b');
    const all = await written(registration, 'a', 'B', 'C');
    expect(app.products.addCalls).toEqual([
      ['a', 'b'],
      ['B', 'C'],
    ]);
    expect(all.keys).toEqual(['a', 'b', 'B', 'C']);
    await written(await before('d'), 'D');
    expect(await app.products.mightContain('D')).toBe(true);
    expect(advice()).toEqual([
      {
        type: 'advice',
        filter,
        text: expect.stringMatching(
          /^BLOOM_OTHER_ID_WRITTEN: Products\.create wrote a row whose id, 'B', is another one .*normalize/,
        ),
        withoutId: expect.not.stringContaining("'B'"),
      },
    ]);
    await registrar.registerWritten(await before('e'), ['E'], 'the model Product');
    expect(advice()).toHaveLength(2);
  });

  it('adds again, after a commit, what was added before and what was not', async () => {
    const all = await written(await before('a'), 'A');
    app.products.generation = 'second';
    await registrar.registerAgain(all);
    expect(app.products.addCalls.at(-1)).toEqual(['a', 'A']);
  });

  it('queues ids that cannot be recorded, since their rows exist', async () => {
    const registration = await before('a');
    app.products.addError = down;
    await written(registration, 'A');
    expect(app.events).toContainEqual({ type: 'add-queued', filter, queued: 1, error: down });
    app.products.addError = undefined;
    await eventually('it is recorded', () => app.products.mightContain('A'));
  });

  it('reports a value that cannot be an id, and adds the others', async () => {
    await written(await before('a'), { id: 1 }, 'x'.repeat(2000), 'A');
    expect(await app.products.mightContain('A')).toBe(true);
    const errors = app.events.filter(({ type }) => type === 'store-error');
    expect(errors).toEqual(
      Array(2).fill({
        type: 'store-error',
        filter,
        operation: 'add of an id of Products.create',
        error: expect.any(BloomIdError),
      }),
    );
  });
});
