import { describe, expect, it } from '@jest/globals';
import { Candidates } from '../../../src/service/freshness/candidates.js';

const placeOf = (mark: number) => ({ mark, gaps: [] });
const openOf = (oldest: number, next: number, server = 'a') => ({
  server,
  oldest: BigInt(oldest),
  next: BigInt(next),
});

describe('Rows that a mark may move to', () => {
  it('are settled when they are old enough, where nothing is known of transactions', () => {
    const candidates = new Candidates(80);
    candidates.look(0, undefined);
    for (let at = 0; at <= 100; at += 5) candidates.keep(placeOf(at), at);
    expect(candidates.look(79, undefined)).toEqual({ settled: undefined, aged: undefined });
    expect(candidates.look(100, undefined).settled?.mark).toBe(20);
    expect(candidates.newest?.mark).toBe(100);
  });

  it('are settled when the transactions have ended that had begun by the time they were old enough', () => {
    const candidates = new Candidates(80);
    candidates.look(0, openOf(5, 6));
    candidates.keep(placeOf(1), 1);
    expect(candidates.look(80, openOf(9, 9))).toEqual({ settled: undefined, aged: undefined });
    const held = candidates.look(81, openOf(9, 12));
    expect([held.settled, held.aged?.mark]).toEqual([undefined, 1]);
    candidates.keep(placeOf(2), 90);
    // Those that begin later have no id before it.
    expect(candidates.look(100, openOf(11, 40)).settled).toBeUndefined();
    expect(candidates.look(101, openOf(12, 40)).settled?.mark).toBe(1);
    expect(candidates.look(170, openOf(12, 40))).toMatchObject({ settled: { mark: 1 }, aged: { mark: 2 } });
  });

  it('are forgotten when another server answers, which may lack them', () => {
    const candidates = new Candidates(0);
    candidates.look(0, openOf(5, 5));
    candidates.keep(placeOf(1), 1);
    expect(candidates.look(2, openOf(5, 5)).settled?.mark).toBe(1);
    expect(candidates.look(3, openOf(9, 9, 'b'))).toEqual({ settled: undefined, aged: undefined });
  });

  it('stay few however long a transaction is open, and the first one that is held stays', () => {
    const candidates = new Candidates(10);
    for (let at = 0; at < 10_000; at++) {
      const { settled, aged } = candidates.look(at, openOf(5, 9));
      expect(settled).toBeUndefined();
      if (at > 100) expect(Number(aged?.mark)).toBeGreaterThan(at / 2);
      candidates.keep(placeOf(at), at);
    }
    const { settled } = candidates.look(10_000, openOf(9, 9));
    expect(Number(settled?.mark)).toBeGreaterThan(5000);
    candidates.dropUpTo(settled!);
    expect(candidates.look(10_001, openOf(9, 9)).settled).not.toEqual(settled);
  });
});
