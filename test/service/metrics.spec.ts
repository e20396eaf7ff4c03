import { describe, expect, it } from '@jest/globals';
import { LookupCounts } from '../../src/service/index.js';
import { MAX_METHODS, MethodCountsByName, OTHER_METHODS } from '../../src/service/filter-counts.js';
import { BloomService, defineFilter, ManagedFilter } from '../../src/service/index.js';
import { MemoryStore } from '../../src/store/memory/index.js';
import { systemClock } from '../../src/common/index.js';

describe('LookupCounts', () => {
  it('put each observation into the bucket of the first bound that is not below it', () => {
    const counts = new LookupCounts();
    for (const ms of [0.05, 0.1, 0.11, 999, 1000, 1000.1, 5000]) counts.recordLookups(['maybe'], ms);
    const { remote } = counts.snapshot().latencyMs;
    expect(remote.bounds[0]).toBe(0.1);
    expect(remote.bounds.at(-1)).toBe(1000);
    expect(remote.counts).toHaveLength(remote.bounds.length + 1);
    expect(remote.counts[0]).toBe(2);
    expect(remote.counts[1]).toBe(1);
    expect(remote.counts.at(-2)).toBe(2);
    expect(remote.counts.at(-1)).toBe(2);
    expect(remote.sum).toBeCloseTo(0.05 + 0.1 + 0.11 + 999 + 1000 + 1000.1 + 5000);
  });

  it('give snapshots that do not change any more', () => {
    const counts = new LookupCounts();
    counts.recordUnknown('timeout', 3);
    counts.recordLookups(['maybe', 'absent'], 1);
    const before = counts.snapshot();
    const text = JSON.stringify(before);
    counts.recordUnknown('timeout', 1);
    counts.recordLookups(['maybe', 'absent'], 1);
    counts.recordAdd(1, 1);
    counts.recordLocalTime(0.001);
    expect(JSON.stringify(before)).toBe(text);
    expect(counts.snapshot().lookups).toMatchObject({
      local: 0,
      remote: 4,
      unknown: { timeout: 4, lost: 0 },
    });
  });
});

describe('MethodCountsByName', () => {
  it('counts methods beyond the limit together', () => {
    const methods = new MethodCountsByName();
    for (let i = 0; i < MAX_METHODS + 100; i++)
      methods.of({ method: `Class${i}.find`, counted: { last: undefined } }).maybe++;
    methods.of({ method: 'Class0.find', counted: { last: undefined } }).maybe++;
    const all = methods.all();
    expect(all).toHaveLength(MAX_METHODS + 1);
    expect(all[0]).toMatchObject({ method: 'Class0.find', maybe: 2 });
    expect(all.at(-1)).toMatchObject({ method: OTHER_METHODS, maybe: 100 });
  });
});

describe('The advice on a filter', () => {
  it('has each text once, a bounded number of them, until it is withdrawn', () => {
    const emit = () => {};
    const definition = defineFilter({ name: 'products', capacity: 1000 });
    const filter = new ManagedFilter(definition, { store: new MemoryStore(), emit, clock: systemClock });
    const service = new BloomService(emit);
    service.register(filter);
    for (let i = 0; i < 1000; i++)
      service.onEvent({ type: 'advice', filter: 'products', text: `advice ${i % 500}` });
    const advice = () => filter.metrics().advice;
    expect(advice().length).toBeLessThanOrEqual(50);
    expect(advice()[0]).toBe('advice 0');
    filter.advice.delete('advice 0');
    expect(advice()[0]).toBe('advice 1');
  });
});
