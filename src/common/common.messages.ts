import { printed } from './errors.js';

export const notOptions = (where: string, what: string, options: unknown) =>
  `${where}: expected ${what}, got ${printed(options)}.`;

/** For a value that programs often take from the environment. */
export const NOT_SET = 'If it comes from the environment or a configuration, it is not set there.';

export const optionWithoutValue = (where: string, option: string, got: unknown) =>
  `${where}: expected the option '${option}' to have a value, got ${printed(got)}. ${NOT_SET} If another file exports it, the two files may ` +
  'import each other. To have its default, leave the option out.';

export const noSuchOption = (where: string, option: string, advice: string) =>
  `${where}: expected no option '${option}'. ${advice}`;

export const wrongOption = (where: string, option: string, expected: string, got: unknown) =>
  `${where}: expected ${option} to be ${expected}, got ${printed(got)}.`;
