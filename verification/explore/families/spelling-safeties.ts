import type { Safety, SpellingRule } from '../broken-store.js';

/** The rules that keep processes of two spellings apart, by their names in verification/model/rebuild.ts. */
export const SPELLING_SAFETIES: readonly Safety[] = [
  of('spelling-of-answer', 'an answer counts when the generation spells ids as the process that asks'),
  of(
    'spelling-at-add',
    'an add takes a live generation that spells otherwise offline before it is acknowledged',
  ),
  of('spelling-at-staging', 'an add withdraws a staging that spells otherwise before it is acknowledged'),
];

function of(name: SpellingRule, what: string): Safety {
  return { name, what, take: () => ({ spellingRule: name }) };
}
