import { BloomConfigError } from '../common/index.js';
import type { BloomService } from '../service/index.js';
import type { NamedFilter } from './filter-uses.js';
import { noFilterName } from './guard.messages.js';

/** The instance of a method: a decorator does not know the class that it stands in. */
// oxlint-disable-next-line typescript/no-explicit-any
export type AnyInstance = any;

/**
 * The name of a filter; or a function of the instance that returns it, for a class that others extend, each with a filter of its own. The function is called once for an
 * instance.
 */
export type BloomFilterName<Self = AnyInstance> = string | ((self: Self) => string);

/**
 * @param decorator for people: `BloomGuarded`.
 * @param method for people: `BaseRepository.find`.
 * @throws {BloomConfigError} for what is neither a name nor a function.
 */
export function namedFilter(filter: BloomFilterName, decorator: string, method: string): NamedFilter {
  if (typeof filter === 'string') return { text: `'${filter}'`, name: filter, nameOf: () => filter };
  const text = '(self) => …';
  const where = `@${decorator}(${text}) on ${method}`;
  if (typeof filter !== 'function')
    throw new BloomConfigError(noFilterName(`@${decorator} on ${method}`, filter));
  const names = new WeakMap<object, string>();
  return {
    text,
    name: undefined,
    nameOf(self) {
      let name = names.get(self);
      if (name === undefined) names.set(self, (name = readName(filter, self, where)));
      return name;
    },
  };
}

/** The name of a filter that is registered; undefined, and an event, where there is none. */
export function registeredName(
  filter: NamedFilter,
  {
    self,
    method,
    service,
  }: { readonly self: object; readonly method: string; readonly service: BloomService },
): string | undefined {
  try {
    const name = filter.nameOf(self);
    return service.lookUp(name, method) && name;
  } catch (error) {
    service.emit({ type: 'filter-missing', filter: filter.text, method, error });
    return undefined;
  }
}

function readName(filter: (self: object) => string, self: object, where: string): string {
  let name: unknown;
  try {
    name = filter(self);
  } catch (cause) {
    throw new BloomConfigError(noFilterName(where, cause, self.constructor.name), { cause });
  }
  if (typeof name === 'string' && name !== '') return name;
  throw new BloomConfigError(noFilterName(where, name, self.constructor.name));
}
