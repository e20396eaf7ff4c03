import { createHash } from 'node:crypto';

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

/** The scripts of these names: those of their files, in camel case. */
export function defineScripts<
  Sources extends Readonly<Record<string, { readonly source: string }>>,
  Name extends keyof Sources & string,
>(sources: Sources, names: readonly Name[]): Readonly<Record<Name, Script>> {
  const scripts = names.map((name) => [name, new Script(name, sources[name]!.source)]);
  return Object.fromEntries(scripts) as Record<Name, Script>;
}
