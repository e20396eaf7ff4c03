import { describe, expect, it } from '@jest/globals';
import { SeenIds } from '../../src/service/seen-ids.js';

describe('Ids that were seen lately', () => {
  it('are told from others', () => {
    const seen = new SeenIds();
    expect(seen.has('product-1')).toBe(false);
    for (let i = 0; i < 1000; i++) seen.add(`product-${i}`);
    const known = Array.from({ length: 1000 }, (_, i) => `product-${i}`).filter((id) => seen.has(id));
    // One place is for one id: a few take those of others.
    expect(known.length).toBeGreaterThan(970);
    for (let i = 0; i < 10_000; i++) expect(seen.has(`none-${i}`)).toBe(false);
  });

  it('are spelled as bytes or as text', () => {
    const seen = new SeenIds();
    seen.add(Buffer.from('ü'));
    expect(seen.has('ü')).toBe(true);
  });

  it('are as many as fit, the latest', () => {
    const seen = new SeenIds();
    for (let i = 0; i < 1_000_000; i++) seen.add(String(i));
    expect(seen.has('999999')).toBe(true);
    const old = Array.from({ length: 1000 }, (_, i) => String(i)).filter((id) => seen.has(id));
    expect(old.length).toBeLessThan(5);
  });
});
