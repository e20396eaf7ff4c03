import { luaSources } from './lua-sources.js';

/** Safeties of the protocol that the replay takes out. They stand in the Lua between `--safety:<name>` and `--end`. */
export const SAFETIES = ['double-write'] as const;
export type Safety = (typeof SAFETIES)[number];

type ScriptName = keyof typeof luaSources;

/** The library's Lua with one safety taken out, for tests that must see it missing. */
export function luaWithout(safety: string, sources = luaSources): typeof luaSources {
  const without = (source: string) => source.replace(section('safety', safety), '');
  return changed(without, `a section --safety:${safety}`, sources);
}

/** The library's Lua with a text of one script replaced. */
export function luaReplacing(
  script: ScriptName,
  text: string | RegExp,
  by: string,
  sources = luaSources,
): typeof luaSources {
  return changed(
    (source, name) => (name === script ? source.replace(text, by) : source),
    String(text),
    sources,
  );
}

/** What stands between `--part:<name>` and `--end`. */
export function luaPart(script: ScriptName, part: string): string {
  const [found] = luaSources[script].source.match(section('part', part)) ?? [];
  if (found === undefined) throw new Error(`The script ${script} has no section --part:${part}.`);
  return found;
}

function section(kind: 'safety' | 'part', name: string): RegExp {
  return new RegExp(`^--${kind}:${name}$[^]*?^--end$`, 'gm');
}

function changed(
  change: (source: string, name: string) => string,
  what: string,
  sources = luaSources,
): typeof luaSources {
  const entries = Object.entries(sources).map(([name, script]) => [
    name,
    { ...script, source: change(script.source, name) },
  ]);
  const broken = Object.fromEntries(entries) as typeof luaSources;
  if (JSON.stringify(broken) === JSON.stringify(sources)) throw new Error(`No script has ${what}.`);
  return broken;
}
