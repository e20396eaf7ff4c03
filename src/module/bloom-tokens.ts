import { Inject, type Provider, Scope } from '@nestjs/common';
import { MODULE_METADATA } from '@nestjs/common/constants.js';
import { INQUIRER, ModulesContainer } from '@nestjs/core';
import { BloomConfigError } from '../common/index.js';
import { BloomFilter } from '../service/index.js';
import { noFilterOfThisName, twoRoots, unnamedFilter } from './module.messages.js';

export const BLOOM_OPTIONS = Symbol('nestjs-bloom options');
export const BLOOM_STORE = Symbol('nestjs-bloom store');
/** The token of `BloomService`. */
export const BLOOM_SERVICE = Symbol('nestjs-bloom service');

/** Names that this process has asked tokens for, which tests have to provide. */
const named = new Set<string>();

export function namedFilters(): ReadonlySet<string> {
  return named;
}

/** Names that a module of this process has registered. */
const registered = new Set<string>();

export function recordRegistered(name: string): void {
  registered.add(name);
}

/** Those that were asked for, and that nobody has registered so far. */
export function missingFilters(): string[] {
  return [...named].filter((name) => !registered.has(name));
}

export function tokenOfFilter(name: string): string {
  return `BloomFilter:${name}`;
}

/** The injection token of a filter, for `overrideProvider(…)` and for `inject` of factories. */
export function getBloomFilterToken(name: string): string {
  named.add(name);
  return tokenOfFilter(name);
}

/**
 * Injects a filter.
 *
 * @example constructor(@InjectBloomFilter('products') private readonly products: BloomFilter) {}
 */
export function InjectBloomFilter(name: string): ParameterDecorator & PropertyDecorator {
  return Inject(getBloomFilterToken(name));
}

/** Its factory runs before all others of the module. */
export const SETUP = Symbol('nestjs-bloom setup');

/** @param core the class of the module that `forRoot` makes for itself. */
export function setupProvider(core: Function): Provider {
  return {
    provide: SETUP,
    inject: [ModulesContainer],
    useFactory: (modules: ModulesContainer) => {
      assertOneRoot(modules, core);
      return { dropMissing: () => dropMissing(modules, core) };
    },
  };
}

export interface Setup {
  /** To be called when everything is injected: a missing name may be registered later. */
  dropMissing(): void;
}

/**
 * Providers for filters that a decorator names and no module registers, and for `BloomFilter` without a name:
 * they say so. They are transient, since such a provider is made only on demand.
 */
export function missingFilterProviders(core: Function, names: readonly string[]): Provider[] {
  return [
    missing(BloomFilter, unnamedFilter),
    ...names.map((name) =>
      missing(tokenOfFilter(name), (host, others) => noFilterOfThisName(name, host, others)),
    ),
  ];

  function missing(
    provide: Function | string,
    message: (host: string, names: readonly string[]) => string,
  ): Provider {
    return {
      provide: provide as string,
      scope: Scope.TRANSIENT,
      inject: [INQUIRER, ModulesContainer],
      useFactory: (inquirer: unknown, modules: ModulesContainer) => {
        throw new BloomConfigError(message(nameOf(inquirer), namesOf(modules, core)));
      },
    };
  }
}

/** The names of all filters that some module provides. */
function namesOf(modules: ModulesContainer, core: Function): string[] {
  const head = tokenOfFilter('');
  const tokens = [...modules.values()].flatMap(({ providers, metatype }) =>
    metatype === core ? [] : [...providers.keys()],
  );
  const names = tokens.filter((token) => typeof token === 'string' && token.startsWith(head));
  return [...new Set(names.map((token) => (token as string).slice(head.length)))];
}

function dropMissing(modules: ModulesContainer, core: Function): void {
  for (const { metatype, providers } of modules.values())
    if (metatype === core) for (const name of missingFilters()) providers.delete(tokenOfFilter(name));
}

function assertOneRoot(modules: ModulesContainer, core: Function): void {
  const roots = [...modules.values()].filter(({ metatype }) => metatype === core);
  if (roots.length > 1) throw new BloomConfigError(twoRoots(importersOf(modules, core)));
}

/** The classes that name such a module among their imports; not those to which another function hands it. */
function importersOf(modules: ModulesContainer, core: Function): string[] {
  const importers = [...modules.values()].flatMap(({ metatype }) => {
    const imports: unknown = Reflect.getMetadata(MODULE_METADATA.IMPORTS, metatype);
    const roots = Array.isArray(imports) ? imports.filter((imported) => isRoot(imported, core)) : [];
    return roots.map(() => metatype.name);
  });
  return importers;
}

function isRoot(imported: unknown, core: Function): boolean {
  const { imports } = (imported ?? {}) as { readonly imports?: unknown };
  return Array.isArray(imports) && imports.some((one: { module?: unknown }) => one?.module === core);
}

function nameOf(inquirer: unknown): string {
  const name = typeof inquirer === 'object' && inquirer !== null ? inquirer.constructor?.name : undefined;
  return name && name !== 'Object' ? name : 'A provider';
}
