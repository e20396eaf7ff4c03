import type { Explorer, Outcome } from './explorer.js';

/** Candidates that are tried at once. */
const BATCH = 48;

/**
 * The shortest list of actions found with which the schedule of a seed still fails; undefined when it does
 * not fail again.
 */
export async function shrink(explorer: Explorer, seed: number): Promise<Outcome | undefined> {
  const [whole] = await explorer.replay(seed, [await explorer.labelsOf(seed)]);
  if (!hasFailed(whole!)) return undefined;
  let labels = whole!.labels;
  const tryAll = async (candidates: readonly (readonly string[])[]): Promise<boolean> => {
    for (let at = 0; at < candidates.length; at += BATCH) {
      const outcomes = await explorer.replay(seed, candidates.slice(at, at + BATCH));
      const shorter = outcomes
        .filter((outcome) => hasFailed(outcome) && outcome.labels.length < labels.length)
        .toSorted((a, b) => a.labels.length - b.labels.length)[0];
      if (!shorter) continue;
      labels = shorter.labels;
      return true;
    }
    return false;
  };
  while (await tryAll(withoutOne(labels))) continue;
  for (let size = labels.length >> 1; size > 0;) {
    if (await tryAll(withoutStretch(labels, size))) size = Math.min(size, labels.length);
    else size >>= 1;
  }
  const [shortest] = await explorer.replay(seed, [labels], true);
  return shortest;
}

function hasFailed({ violations }: Outcome): boolean {
  return violations.length > 0;
}

/** Without all that one actor or one instance does, or one kind of fault. */
function withoutOne(labels: readonly string[]): string[][] {
  const groups = new Set(labels.map(groupOf));
  return [...groups].map((group) => labels.filter((label) => groupOf(label) !== group));
}

function groupOf(label: string): string {
  return label.split(/[# ]/)[0]!;
}

function withoutStretch(labels: readonly string[], size: number): string[][] {
  const candidates: string[][] = [];
  for (let at = 0; at < labels.length; at += size) {
    candidates.push([...labels.slice(0, at), ...labels.slice(at + size)]);
  }
  return candidates;
}
