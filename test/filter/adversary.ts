import { BlockedFilter, createGeneration, planFilter } from '../../src/filter/index.js';
import { goZero } from '@nestjs-bloom/interop';

/** Ids that the attacker knows: anybody can list the catalogue. */
const PUBLIC_IDS = 50_000;
const ERROR_RATE = 0.05;

interface Filter {
  add(id: string): boolean;
  mightContain(id: string): boolean;
}

export interface Attack {
  /** Ids that the attacker chose because they pass a filter that he has built himself. */
  readonly crafted: number;
  /** Share of them that passes the shop's filter. */
  readonly craftedPass: number;
  /** Share of as many ids that were not chosen that passes it. */
  readonly randomPass: number;
  /** Share of the ids found to pass it that passes a rebuilt one. */
  readonly foundPassRebuilt: number;
}

/** Layout `blocked`: the attacker has all the code, the geometry and the ids, and draws a key of his own. */
export function attackBlocked({ crafted }: { crafted: number }): Attack {
  const plan = planFilter({ capacity: PUBLIC_IDS, errorRate: ERROR_RATE });
  // Each with a key of its own, the same ones in every run: what is measured is a share, and chance.
  const build = (number: number) =>
    new BlockedFilter({ ...createGeneration(plan), tag: number, key: [0x243f6a88 + number, 0x85a308d3] });
  return attack(build, crafted);
}

/** go-zero's layout, whose hash has no key. */
export function attackGoZero({ crafted }: { crafted: number }): Attack {
  // With its 14 positions an id, 11 bits an id give an error rate of about 1 %: random ids rarely pass.
  return attack(() => goZero.create({ bits: PUBLIC_IDS * 11 }), crafted);
}

function attack(build: (number: number) => Filter, count: number): Attack {
  const [shop, attackers, rebuilt] = [1, 2, 3].map((number) => filled(build(number))) as [
    Filter,
    Filter,
    Filter,
  ];
  let crafted = 0;
  let craftedPass = 0;
  for (let i = 0; crafted < count; i++) {
    const id = `attack-${i}`;
    if (!attackers.mightContain(id)) continue;
    crafted++;
    if (shop.mightContain(id)) craftedPass++;
  }
  let found = 0;
  let foundPass = 0;
  for (let i = 0; i < count; i++) {
    const id = `random-${i}`;
    if (!shop.mightContain(id)) continue;
    found++;
    if (rebuilt.mightContain(id)) foundPass++;
  }
  return {
    crafted,
    craftedPass: craftedPass / crafted,
    randomPass: found / count,
    foundPassRebuilt: foundPass / found,
  };
}

function filled(filter: Filter): Filter {
  for (let i = 0; i < PUBLIC_IDS; i++) filter.add(`sku-${i}`);
  return filter;
}
