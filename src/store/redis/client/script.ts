import { createHash } from 'node:crypto';

/** Lua of scripts, by their names: those of their files, in camel case. A test passes in a set with a safety taken out. */
export type LuaSources = Readonly<Record<string, { readonly source: string }>>;

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

/** The scripts of these names; a source in `replaced` takes the place of the package's own. */
export function defineScripts<Own extends LuaSources, Name extends keyof Own & string>(
  own: Own,
  names: readonly Name[],
  replaced: LuaSources = own,
): Readonly<Record<Name, Script>> {
  const scripts = names.map((name) => [name, new Script(name, (replaced[name] ?? own[name]!).source)]);
  return Object.fromEntries(scripts) as Record<Name, Script>;
}
