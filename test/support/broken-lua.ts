import { luaSources } from './lua-sources.js';

/**
 * Safeties of the protocol that the replay takes out. They stand in the Lua between `--safety:<name>` and
 * `--end`.
 */
export const SAFETIES = ['double-write'] as const;
export type Safety = (typeof SAFETIES)[number];

export type LuaSources = typeof luaSources;
type ScriptName = keyof LuaSources;

/**
 * The library's Lua with one safety taken out, for tests that must see it missing.
 *
 * @param scripts those to take it out of; else every script that has it
 */
export function luaWithout(
  safety: string,
  scripts?: readonly ScriptName[],
  sources = luaSources,
): LuaSources {
  const without = (source: string, name: ScriptName) =>
    scripts && !scripts.includes(name) ? source : source.replace(section('safety', safety), '');
  return changed(without, `a section --safety:${safety}`, sources, scripts);
}

/** The library's Lua with a text of one script replaced. */
export function luaReplacing(
  script: ScriptName,
  text: string | RegExp,
  by: string,
  sources = luaSources,
): LuaSources {
  return changed(
    (source, name) => (name === script ? source.replace(text, by) : source),
    String(text),
    sources,
    [script],
  );
}

/** What stands between `--part:<name>` and `--end`. */
export function luaPart(script: ScriptName, part: string): string {
  const [found] = luaSources[script].source.match(section('part', part)) ?? [];
  if (found === undefined) throw new Error(`The script ${script} has no section --part:${part}.`);
  return found;
}

/** The names of the scripts that are not those of the library. */
export function changedScripts(sources: LuaSources): ScriptName[] {
  const names = Object.keys(sources) as ScriptName[];
  return names.filter((name) => sources[name].source !== luaSources[name].source);
}

function section(kind: 'safety' | 'part', name: string): RegExp {
  return new RegExp(`^--${kind}:${name}$[^]*?^--end$`, 'gm');
}

/** @param scripts which must all change; else at least one */
function changed(
  change: (source: string, name: ScriptName) => string,
  what: string,
  sources: LuaSources,
  scripts?: readonly ScriptName[],
): LuaSources {
  const entries = Object.entries(sources).map(([name, script]) => [
    name,
    { ...script, source: change(script.source, name as ScriptName) },
  ]);
  const broken = Object.fromEntries(entries) as LuaSources;
  const isChanged = (name: ScriptName) => broken[name].source !== sources[name].source;
  const same = scripts?.find((name) => !isChanged(name));
  if (same !== undefined) throw new Error(`The script ${same} has not ${what}.`);
  if (!scripts && !(Object.keys(sources) as ScriptName[]).some(isChanged))
    throw new Error(`No script has ${what}.`);
  return broken;
}
