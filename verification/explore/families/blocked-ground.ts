import type { Ground } from '../ground.js';
import { KEY_PREFIX, OLD_ROWS } from '../scenario.js';
import { blocked } from '../../../src/filter/index.js';

export interface BlockedGroundOptions {
  readonly filterName: string;
  /** A filter that stands ready is copied from the template of this number; undefined: never built. */
  readonly template: number | undefined;
  /** Whether it has a table of the negative cache. */
  readonly hasTable: boolean;
}

/** Ground of a filter of one generation of layout `blocked`. */
export function blockedGround({ filterName, template, hasTable }: BlockedGroundOptions): Ground {
  const base = baseOf(filterName);
  return {
    base,
    layout: blocked,
    holds: template === undefined ? [] : OLD_ROWS,
    begin: () => (template === undefined ? { send: [], keys: [] } : copied(template, base, hasTable)),
    isLive: (key) => key.startsWith(base) && /^:[0-9]$/.test(key.slice(base.length)),
    isStaged: (key) => key.includes(':next:'),
  };
}

/** The filter that is copied. */
export function templateName(number: number): string {
  return `template${number}`;
}

function copied(template: number, base: string, hasTable: boolean): ReturnType<Ground['begin']> {
  const from = baseOf(templateName(template));
  const names = ['meta', '0', '1', 'denials'];
  return {
    send: [
      ...names.map((name) => ({ name: 'copy', args: [`${from}:${name}`, `${base}:${name}`] })),
      ...(hasTable ? [] : [{ name: 'hdel', args: [`${base}:meta`, 'denials'] }]),
    ],
    keys: names.map((name) => `${base}:${name}`),
  };
}

function baseOf(filterName: string): string {
  return `${KEY_PREFIX}:{${filterName}}`;
}
