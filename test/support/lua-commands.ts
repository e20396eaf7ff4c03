import { luaSources } from './lua-sources.js';

/** Every command that the scripts run whose names begin so. */
export function commandsOf(prefixes: readonly string[]): string[] {
  const scripts = Object.entries(luaSources).filter(([name]) => prefixes.some((one) => name.startsWith(one)));
  const found = scripts.flatMap(([, { source }]) => [...source.matchAll(/\('([A-Z][A-Z.]+)'[,)]/g)]);
  return [...new Set(found.map(([, command]) => command!))];
}
