import { luaSources } from '../../src/store/redis/index.js';

/** Safeties of the protocol that stand in the Lua between `--safety:<name>` and `--end`. */
export const SAFETIES = ['double-write'] as const;
export type Safety = (typeof SAFETIES)[number];

/** The library's Lua with one safety taken out, for tests that must see it missing. */
export function luaWithout(safety: Safety): typeof luaSources {
  const section = new RegExp(`^--safety:${safety}$[^]*?^--end$`, 'gm');
  const entries = Object.entries(luaSources).map(([name, script]) => [
    name,
    { ...script, source: script.source.replace(section, '') },
  ]);
  const broken = Object.fromEntries(entries) as typeof luaSources;
  if (JSON.stringify(broken) === JSON.stringify(luaSources)) {
    throw new Error(`No script has a section --safety:${safety}.`);
  }
  return broken;
}
