import { Random } from '../../test/support/random.js';
import { type Contestant, contestants } from './contestants.js';

/**
 * What the article on go-zero's filter does: a filter for so many ids, half of them inserted, absent UUIDs
 * looked up.
 */
export interface Experiment {
  readonly capacity: number;
  readonly bitsPerId: number;
  readonly inserted: number;
  readonly probes: number;
  readonly seed: number;
}

export interface Outcome {
  readonly layout: string;
  readonly bits: number;
  readonly bytes: number;
  readonly hashCount: number;
  /** Among the absent ids, by the model. */
  readonly expectedFalsePositives: number;
  readonly measuredFalsePositives: number;
  /** Inserted ids that were denied: must be none. */
  readonly falseNegatives: number;
  readonly addNs: number;
  /** One lookup of an id that is there. */
  readonly presentNs: number;
  /** One lookup of an id that is not. */
  readonly absentNs: number;
}

/** UUIDs are made before the clock starts, in portions that fit the memory. */
const PORTION = 250_000;

export function* runExperiment(experiment: Experiment): Generator<Outcome> {
  for (const contestant of contestants(experiment.capacity, experiment.bitsPerId)) {
    yield measure(contestant, experiment);
  }
}

function measure({ name, plan, expectedErrorRate, create }: Contestant, experiment: Experiment): Outcome {
  const { inserted, probes, seed } = experiment;
  const filter = create();
  const add = overUuids(new Random(seed), inserted, (id) => filter.add(id));
  const present = overUuids(new Random(seed), inserted, (id) => filter.mightContain(id));
  const absent = overUuids(new Random(seed + 1), probes, (id) => filter.mightContain(id));
  return {
    layout: name,
    bits: plan.bits,
    bytes: plan.bytes,
    hashCount: plan.hashCount,
    expectedFalsePositives: expectedErrorRate(inserted) * probes,
    measuredFalsePositives: absent.hits,
    falseNegatives: inserted - present.hits,
    addNs: add.ns,
    presentNs: present.ns,
    absentNs: absent.ns,
  };
}

function overUuids(
  random: Random,
  count: number,
  ask: (id: string) => boolean,
): { hits: number; ns: number } {
  let hits = 0;
  let ms = 0;
  for (let done = 0; done < count; done += PORTION) {
    const ids = Array.from({ length: Math.min(PORTION, count - done) }, () => uuid(random));
    const before = performance.now();
    for (const id of ids) if (ask(id)) hits++;
    ms += performance.now() - before;
  }
  return { hits, ns: (ms * 1e6) / count };
}

/** UUIDs of version 4. */
function uuid(random: Random): string {
  const words = [random.uint32(), random.uint32(), random.uint32(), random.uint32()];
  words[1] = (words[1]! & 0xffff0fff) | 0x4000;
  words[2] = (words[2]! & 0x3fffffff) | 0x80000000;
  const hex = words.map((word) => (word! >>> 0).toString(16).padStart(8, '0')).join('');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
