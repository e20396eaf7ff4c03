import { createHash } from 'node:crypto';
import { luaSources } from '../lua/scripts.generated.js';

/** Name of a script: that of its file, without hyphens. */
export type ScriptName = keyof typeof luaSources;

/** Lua of every script, by name. A test passes in another set, with a safety taken out. */
export type LuaSources = { readonly [Name in ScriptName]: { readonly source: string } };

/** Lua with its digest. */
export class Script {
  readonly sha1: string;

  constructor(
    readonly name: string,
    readonly source: string,
  ) {
    this.sha1 = createHash('sha1').update(source).digest('hex');
  }
}

/** The scripts of these names. */
export function defineScripts<Name extends ScriptName>(
  names: readonly Name[],
  sources: LuaSources = luaSources,
): Readonly<Record<Name, Script>> {
  const scripts = names.map((name) => [name, new Script(name, sources[name].source)]);
  return Object.fromEntries(scripts) as Record<Name, Script>;
}
