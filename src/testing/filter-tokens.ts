import type { ModulesContainer } from '@nestjs/core';
import { tokenOfFilter } from '../module/index.js';

const HEAD = tokenOfFilter('');

/**
 * What the modules of a test provide under the tokens of filters: filters, or what the test has put in their
 * place.
 */
export class FilterTokens {
  constructor(private readonly modules: ModulesContainer) {}

  /** The names of all filters that some module provides. */
  names(): string[] {
    const tokens = [...this.modules.values()].flatMap(({ providers }) => [...providers.keys()]);
    return tokens
      .filter((token) => typeof token === 'string' && token.startsWith(HEAD))
      .map((token) => (token as string).slice(HEAD.length));
  }

  /** What is provided as this filter; undefined while it has not been made. */
  find(name: string): object | undefined {
    const token = tokenOfFilter(name);
    for (const { providers } of this.modules.values()) {
      const found: unknown = providers.get(token)?.instance;
      if ((typeof found === 'object' || typeof found === 'function') && found !== null) return found;
    }
    return undefined;
  }
}
