import { createHash } from 'node:crypto';
import type { DenialKey, GuardedCall } from './guarded-call.js';
import { usesOf } from './filter-uses.js';

/** Characters of a spelling that takes part in a scope; calls with longer ones are not remembered. */
const MAX_SPELLING = 256;

/**
 * Decides which calls the negative cache may take part in. What the database denied to one caller is an answer for another one only
 * if nothing but the id can have decided it: the id is the only argument, and the object is one that all callers share. So a
 * call with a user beside the id is not remembered, nor one on a request-scoped, transient or durable object, nor a request that
 * `BloomInterceptor` checks.
 */
export class DenialScopes {
  private readonly objects = new WeakMap<object, { readonly name: string; readonly isOnly: boolean }>();

  /** @param objects those of which the application has one, which every caller shares. */
  learn(objects: ReadonlySet<object>): void {
    const byName = new Map<string, object[]>();
    for (const object of objects) {
      if (hasNamesakes(object)) continue;
      const name = nameOfClass(object);
      const namesakes = byName.get(name);
      if (namesakes) namesakes.push(object);
      else byName.set(name, [object]);
    }
    for (const [name, namesakes] of byName) {
      const isOnly = namesakes.length === 1;
      for (const [i, object] of namesakes.entries()) {
        this.objects.set(object, { name: isOnly ? name : `${name}#${i}`, isOnly });
      }
    }
  }

  /**
   * Undefined for a call that is neither remembered nor answered from what is remembered.
   *
   * @param asked the id as the caller wrote it, its note, and whether other processes know what is remembered.
   */
  keyOf(
    { self, args, guard }: GuardedCall,
    { id, note, isForAll }: { id: unknown; note: string; isForAll: boolean },
  ): DenialKey | undefined {
    if (args.length !== 1 || !Object.is(args[0], id) || !isText(id)) return undefined;
    const object = typeof self === 'object' && self !== null ? this.objects.get(self) : undefined;
    // Other processes know an object by the name of its class alone.
    if (!object || (isForAll && !object.isOnly)) return undefined;
    const spelling = id === note ? '' : String(id);
    if (spelling.length > MAX_SPELLING) return undefined;
    // The method may find a row by one spelling and nothing by another.
    return { text: note, scope: `${object.name}\0${guard.method}\0${typeof id}\0${spelling}` };
  }
}

/** Bytes are left out: their owner may change them while the method runs. */
function isText(id: unknown): id is string | number | bigint {
  return typeof id === 'string' || typeof id === 'number' || typeof id === 'bigint';
}

/**
 * The name of an object's class, with a digest of the code of that class and of those that it extends. In a
 * bundle whose names are shortened, a class of another process may have the same name and the same methods.
 */
function nameOfClass(object: object): string {
  const hash = createHash('sha256');
  let name: string | undefined;
  for (
    let at = Object.getPrototypeOf(object);
    at && at !== Object.prototype;
    at = Object.getPrototypeOf(at)
  ) {
    const { constructor } = at as { constructor: unknown };
    if (typeof constructor !== 'function') continue;
    name ??= constructor.name;
    hash.update(String(constructor));
  }
  return `${name ?? ''}@${hash.digest('base64url').slice(0, 16)}`;
}

/** Whether two guards of an object have one name, as those of a class and of its parent with the same name have. */
function hasNamesakes(object: object): boolean {
  const seen = new Set<string>();
  for (let at = Object.getPrototypeOf(object); at; at = Object.getPrototypeOf(at)) {
    for (const { decorator, filter, method } of usesOf(at)) {
      if (decorator !== 'BloomGuarded') continue;
      const guard = `${filter.text} ${method}`;
      if (seen.has(guard)) return true;
      seen.add(guard);
    }
  }
  return false;
}
