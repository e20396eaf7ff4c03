import { FingerprintSet } from './fingerprint-set.js';
import type { Exploration, Model } from './model.js';

/** How each state was reached first. */
class Trail {
  private parents = new Uint32Array(1 << 16);
  private kinds = new Uint16Array(1 << 16);
  private readonly names: string[] = [];
  private readonly numbers = new Map<string, number>();

  /** `state` and `parent`: numbers of states from 1; 0 is the parent of the first one. */
  note(state: number, parent: number, step: string): void {
    if (state >= this.parents.length) {
      this.parents = enlarged(this.parents, Uint32Array);
      this.kinds = enlarged(this.kinds, Uint16Array);
    }
    let kind = this.numbers.get(step);
    if (kind === undefined) {
      kind = this.names.push(step) - 1;
      this.numbers.set(step, kind);
    }
    this.parents[state] = parent;
    this.kinds[state] = kind;
  }

  to(state: number): string[] {
    const steps = [];
    for (let at = state; this.parents[at] !== 0; at = this.parents[at]!)
      steps.push(this.names[this.kinds[at]!]!);
    return steps.reverse();
  }
}

/**
 * Looks at every state that the model can come to, those that take the fewest steps first, until one breaks
 * the promise.
 */
export function exploreModel<State>(model: Model<State>, limit = 20_000_000): Exploration {
  const known = new FingerprintSet();
  const trail = new Trail();
  known.add(model.key(model.initial));
  trail.note(1, 0, 'start');
  let level: { state: State; number: number }[] = [{ state: model.initial, number: 1 }];
  while (level.length > 0) {
    const next: typeof level = [];
    for (const { state, number } of level) {
      const what = model.violation(state);
      if (what !== undefined) {
        return { states: known.size, violation: { what, steps: trail.to(number) }, isCut: false };
      }
      model.steps(state, (after, step) => {
        if (!known.add(model.key(after))) return;
        trail.note(known.size, number, step);
        next.push({ state: after, number: known.size });
      });
      if (known.size > limit) return { states: known.size, violation: undefined, isCut: true };
    }
    level = next;
  }
  return { states: known.size, violation: undefined, isCut: false };
}

function enlarged<Numbers extends Uint32Array | Uint16Array>(
  numbers: Numbers,
  Constructor: new (length: number) => Numbers,
): Numbers {
  const larger = new Constructor(2 * numbers.length);
  larger.set(numbers);
  return larger;
}
