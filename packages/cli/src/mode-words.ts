import type { BloomGuardMode } from 'nestjs-bloom';

/** What guards do in each mode, for people. */
export const MODES: Readonly<Record<BloomGuardMode, string>> = {
  on: 'guards answer absent ids without calling the method',
  shadow: 'guards let every lookup through, and count what they would have answered',
  off: 'guards let every lookup through without asking the filter',
};

/** The word that ends the mode of all: each process returns to its own. */
export const WITHDRAW = 'withdraw';

export type ModeWord = BloomGuardMode | typeof WITHDRAW;
export const MODE_WORDS: readonly string[] = [...Object.keys(MODES), WITHDRAW];

export const MODES_EXPLAINED = [
  'Modes:',
  ...Object.entries({ ...MODES, [WITHDRAW]: 'each process returns to its own mode' }).map(
    ([mode, text]) => `  ${mode.padEnd(10)}${text}`,
  ),
].join('\n');
