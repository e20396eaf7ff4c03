/** Names of all keys of one filter. The braces make them share a hash slot of a cluster. */
export class RedisKeys {
  readonly meta: string;
  readonly lease: string;
  /** Facts about the builds: when the last ones began, and how they ended. */
  readonly builds: string;
  /** Table of the negative cache; its stored name is older. */
  readonly negativeCache: string;
  /** Processes that may answer "absent" from a copy, and what they have acknowledged. */
  readonly readers: string;
  /** Stream of what they have to apply. */
  readonly feed: string;
  /** Channel that tells what all of them have applied. */
  readonly acks: string;
  /** The epoch in which the generations of all parts are built; kept by the first part. */
  readonly epoch: string;
  /** Key of the inspection at start-up. */
  readonly probe: string;
  readonly segment = (index: number): string => `${this.base}:${index}`;
  private readonly base: string;

  constructor(keyPrefix: string, filter: string) {
    this.base = `${keyPrefix}:{${filter}}`;
    this.meta = `${this.base}:meta`;
    this.lease = `${this.base}:lease`;
    this.builds = `${this.base}:builds`;
    this.negativeCache = `${this.base}:denials`;
    this.readers = `${this.base}:readers`;
    this.feed = `${this.base}:feed`;
    this.acks = `${this.base}:acks`;
    this.epoch = `${this.base}:epoch`;
    this.probe = `${this.base}:probe`;
  }

  /** `token` names the staging, so that no other run ever writes to the key. */
  staging(token: string, index: number): string {
    return `${this.base}:next:${token}:${index}`;
  }

  scratch(token: string): string {
    return `${this.base}:next:${token}:scratch`;
  }

  /** Where a live segment is moved before it is removed. */
  retired(token: string, index: number): string {
    return `${this.base}:old:${token}:${index}`;
  }
}
