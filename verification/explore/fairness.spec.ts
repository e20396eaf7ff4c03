import { describe, expect, it } from '@jest/globals';
import { Fairness } from './fairness.js';
import type { GatedInstance } from './gated-instance.js';

describe('The scheduler of the explorer', () => {
  it('lets a process that was paused go on when others have looked for its lease for long', () => {
    const fairness = new Fairness();
    const [instance, release] = [{ weight: 0.005 } as GatedInstance, {}];
    const weigh = (step: number) => fairness.weigh(release, { instance, weight: 1, step });
    expect([weigh(0), weigh(100), weigh(200)]).toEqual([0.005, 0.005, 0.005]);
    expect(weigh(201)).toBe(1);
    expect(instance.weight).toBe(1);
  });

  it('counts the steps from the time when something begins to wait', () => {
    const fairness = new Fairness();
    const [instance, actor] = [{ weight: 0.1 } as GatedInstance, {}];
    fairness.weigh(actor, { instance, weight: 0.3, step: 0 });
    fairness.taken(actor);
    expect(fairness.weigh(actor, { instance, weight: 0.3, step: 300 })).toBeCloseTo(0.03);
    expect(instance.weight).toBe(0.1);
  });
});
