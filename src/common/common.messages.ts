import { printed } from './errors.js';

export const notOptions = (where: string, what: string, options: unknown) =>
  `${where}: expected ${what}, got ${printed(options)}.`;

export const noSuchOption = (where: string, path: string, name: string, advice: string) =>
  `${where}: expected no option '${path}${name}'. ${advice}`;
