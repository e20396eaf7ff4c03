import { createHash } from 'node:crypto';
import type { RedisClient, RedisWord } from '../../index.js';

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

/** Runs a script by its digest, and loads it where the server does not know it. */
export async function evaluate(
  client: RedisClient,
  script: Script,
  keys: readonly string[],
  args: readonly RedisWord[],
): Promise<unknown> {
  try {
    return await client.evalsha(script.sha1, keys, args);
  } catch (error) {
    if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error;
    return client.eval(script.source, keys, args);
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

/** Numbers keys from 1 in the order in which they are first named, as a script finds them in KEYS. */
export class ScriptKeys {
  readonly keys: string[];
  private readonly indexes = new Map<string, number>();

  constructor(...before: string[]) {
    this.keys = before;
  }

  indexOf(key: string): number {
    let index = this.indexes.get(key);
    if (index === undefined) {
      index = this.keys.push(key);
      this.indexes.set(key, index);
    }
    return index;
  }
}

/** The same memory as a `Buffer`, which the client sends as it is. */
export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
