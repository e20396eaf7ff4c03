import { Scope } from '@nestjs/common';
import type { ModulesContainer } from '@nestjs/core';
import { tokenOfFilter } from './bloom-tokens.js';

const HEAD = tokenOfFilter('');

/** What the modules of an application provide under the tokens of filters: filters, or what a test has put in their place. */
export class FilterTokens {
  /** @param core the class of the module whose providers do not count. */
  constructor(
    private readonly modules: ModulesContainer,
    private readonly core: Function,
  ) {}

  /** The names of all filters that some module provides. */
  names(): string[] {
    const names = new Set<string>();
    for (const { providers, metatype } of this.modules.values()) {
      if (metatype === this.core) continue;
      for (const token of providers.keys())
        if (typeof token === 'string' && token.startsWith(HEAD)) names.add(token.slice(HEAD.length));
    }
    return [...names];
  }

  /** To be called before a transient provider of the core fails: a test that mocks what fails injects nothing for a transient one. */
  allowMock(name: string): void {
    for (const { providers, metatype } of this.modules.values()) {
      const wrapper = metatype === this.core ? providers.get(tokenOfFilter(name)) : undefined;
      if (wrapper) Object.assign(wrapper, { scope: Scope.DEFAULT });
    }
  }

  /** What is provided as this filter; undefined while it has not been made. */
  find(name: string): object | undefined {
    const token = tokenOfFilter(name);
    for (const { providers, metatype } of this.modules.values()) {
      const found: unknown = metatype === this.core ? undefined : providers.get(token)?.instance;
      if ((typeof found === 'object' || typeof found === 'function') && found !== null) return found;
    }
    return undefined;
  }
}
