export const NOTHING_ABSORBED = 'Nothing was absorbed.';
