import type { RedisWord } from 'nestjs-bloom/store';
import { inWords, type Word } from './connection.js';

/** Writes commands and scripts in words, with the prefix of their keys. */
export abstract class KeyedClient {
  constructor(readonly keyPrefix: string) {}

  /** @param key the first one, complete. */
  abstract send(words: Word[], key: string): Promise<unknown>;

  getRange(key: string, from: number, to: number): Promise<Buffer> {
    const whole = this.keyPrefix + key;
    return this.send(['GETRANGE', whole, String(from), String(to)], whole) as Promise<Buffer>;
  }

  command(name: string, key: string, args: readonly RedisWord[]): Promise<unknown> {
    const whole = this.keyPrefix + key;
    return this.send([name, whole, ...inWords(args)], whole);
  }

  evalsha(sha1: string, keys: readonly string[], args: readonly RedisWord[]): Promise<unknown> {
    return this.evaluate('EVALSHA', sha1, keys, args);
  }

  eval(source: string, keys: readonly string[], args: readonly RedisWord[]): Promise<unknown> {
    return this.evaluate('EVAL', source, keys, args);
  }

  private evaluate(
    name: string,
    script: string,
    keys: readonly string[],
    args: readonly RedisWord[],
  ): Promise<unknown> {
    const { keyPrefix } = this;
    const names = keyPrefix === '' ? keys : keys.map((key) => keyPrefix + key);
    return this.send([name, script, String(keys.length), ...names, ...inWords(args)], names[0]!);
  }
}
