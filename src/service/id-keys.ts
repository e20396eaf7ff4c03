import {
  type BloomId,
  hasMoreDigits,
  type IdKey,
  idNote,
  isLongerThan,
  toIdKey,
  tooLong,
} from '../filter/index.js';

export interface IdKeysOptions {
  readonly normalize: ((id: BloomId) => BloomId) | undefined;
  readonly maxIdBytes: number;
}

/** Forms the hashable keys of one filter's ids. */
export class IdKeys {
  private lastFormed: { readonly id: string; readonly key: IdKey } | undefined;

  constructor(private readonly options: IdKeysOptions) {}

  /** @throws {BloomIdError} for a value that cannot be an id, and what `normalize` throws. */
  of(id: unknown): IdKey {
    return this.form(id, false);
  }

  /** @throws {BloomIdError} as `of`, and for an id that is longer than `maxIdBytes`. */
  fitting(id: unknown): IdKey {
    const key = this.form(id, true);
    const { maxIdBytes } = this.options;
    if (isLongerThan(key, maxIdBytes)) throw tooLong(maxIdBytes);
    return key;
  }

  /**
   * A short text for all spellings of an id, to keep.
   *
   * @throws {BloomIdError} as `fitting`.
   */
  note(id: unknown): string {
    return idNote(this.fitting(id));
  }

  private form(id: unknown, hasToFit: boolean): IdKey {
    const key = this.options.normalize ? this.normalized(id, hasToFit) : this.keyOf(id, hasToFit);
    // Bytes are hashed later, when their owner may have written other ones into them. Those that are too long never are.
    return typeof key === 'string' || key.length > this.options.maxIdBytes ? key : new Uint8Array(key);
  }

  /** One lookup needs the key of its id up to four times; what the application does to form it is done once. */
  private normalized(id: unknown, hasToFit: boolean): IdKey {
    if (this.lastFormed && this.lastFormed.id === id) return this.lastFormed.key;
    const key = this.keyOf(this.options.normalize!(id as BloomId), hasToFit);
    // Only of what cannot change.
    if (typeof id === 'string') this.lastFormed = { id, key };
    return key;
  }

  /** The text of a bigint that does not fit is not made for an add. A lookup needs it: another process may have built the filter for longer ids. */
  private keyOf(id: unknown, hasToFit: boolean): IdKey {
    const { maxIdBytes } = this.options;
    if (hasToFit && typeof id === 'bigint' && hasMoreDigits(id, maxIdBytes)) throw tooLong(maxIdBytes);
    return toIdKey(id);
  }
}
