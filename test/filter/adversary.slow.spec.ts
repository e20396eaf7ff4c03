import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { OutsideJest } from '../support/outside-jest.js';
import type { Attack } from './adversary.js';

describe('An attacker who knows the code, the size and every id', () => {
  let thread: OutsideJest;
  beforeAll(async () => {
    thread = await OutsideJest.load('test/filter/adversary');
  });
  afterAll(() => thread.close());

  it('does no better with 1,000,000 crafted ids than with random ones, and loses those he found at a rebuild', async () => {
    const { crafted, craftedPass, randomPass, foundPassRebuilt } = await thread.call<Attack>(
      'attackBlocked',
      {
        crafted: 1_000_000,
      },
    );
    expect(crafted).toBe(1_000_000);
    expect(randomPass).toBeGreaterThan(0.045);
    expect(randomPass).toBeLessThan(0.052);
    // Five standard deviations of a share of 0.05 among a million, and among the 50,000 that were found.
    expect(Math.abs(craftedPass - randomPass)).toBeLessThan(5 * Math.sqrt((0.05 * 0.95 * 2) / 1e6));
    expect(Math.abs(foundPassRebuilt - 0.05)).toBeLessThan(5 * Math.sqrt((0.05 * 0.95) / 50_000) + 0.002);
  });

  it('passes at will where the hash has no key (go-zero), before and after a rebuild', async () => {
    const attack = await thread.call<Attack>('attackGoZero', { crafted: 1_000 });
    expect(attack).toMatchObject({ crafted: 1_000, craftedPass: 1, foundPassRebuilt: 1 });
    expect(attack.randomPass).toBeLessThan(0.05);
  });
});
