import { BloomConfigError } from 'nestjs-bloom/filter';
import { printed } from 'nestjs-bloom/internal';
import { noHashSlot } from './generation.messages.js';

/**
 * Names of the keys that stand beside a key that others own, all in its hash slot: a key with a hash tag
 * keeps it, any other becomes the tag.
 */
export class GenerationKeys {
  readonly meta: string;
  readonly lease: string;
  /** Facts about the builds: when the last ones began, and how they ended. */
  readonly builds: string;
  /** Key of the inspection at start-up. */
  readonly probe: string;
  private readonly base: string;

  /** @throws {BloomConfigError} for a key that no other key can share a hash slot with. */
  constructor(readonly data: string) {
    this.base = `${taggedName(data)}:nestjs-bloom`;
    this.meta = `${this.base}:meta`;
    this.lease = `${this.base}:lease`;
    this.builds = `${this.base}:builds`;
    this.probe = `${this.base}:probe`;
  }

  /** `token` names the staging, so that no other run ever writes to the key. */
  staging(token: string): string {
    return `${this.base}:next:${token}`;
  }

  /** Something else that a rebuild needs beside its staging. */
  stagingPart(token: string, part: string): string {
    return `${this.base}:next:${token}:${part}`;
  }

  /** Where the live filter is moved before it is removed. */
  retired(token: string): string {
    return `${this.base}:old:${token}`;
  }
}

function taggedName(key: string): string {
  const open = key.indexOf('{');
  const close = key.indexOf('}', open + 1);
  if (open >= 0 && close > open + 1) return key;
  if (key !== '' && !key.includes('}')) return `{${key}}`;
  throw new BloomConfigError(noHashSlot(printed(key)));
}
