import { BloomConfigError, type BloomEvent, BloomIdError, BloomUnavailableError } from '../common/index.js';
import {
  type BloomId,
  hasMoreDigits,
  type IdKey,
  idNote,
  isLongerThan,
  normalizeScoped,
  scopedId,
  spellingPrint,
  toIdKey,
  tooLong,
} from '../filter/index.js';
import { normalizeVaries, SPELLING_NOT_KNOWN_YET } from './service.messages.js';

export interface IdKeysOptions {
  readonly name: string;
  readonly normalize: ((id: BloomId) => BloomId) | undefined;
  readonly maxIdBytes: number;
  /** Whether each id has a scope; undefined where that is not known. */
  readonly scoped?: boolean;
  /** No key is formed until `useSpelling` is called. */
  readonly awaitsSpelling?: boolean;
}

/**
 * Forms the keys of one filter's ids. A call forms the key of its id once: `normalize` may be slow, and two
 * answers of it must not lead to two ids.
 */
export class IdKeys {
  private normalize: IdKeysOptions['normalize'];
  private print: string | undefined;

  /** @throws {BloomConfigError} for a `normalize` that makes different keys of one id. */
  constructor(private readonly options: IdKeysOptions) {
    if (!options.awaitsSpelling) this.useSpelling(options.normalize);
  }

  /** Called once, with what the source of the filter has chosen. */
  useSpelling(given: IdKeysOptions['normalize']): void {
    const { name, scoped } = this.options;
    const normalize = scoped ? normalizeScoped(name, given) : given;
    const inScope = (id: unknown) => (scoped ? scopedId('scope', id as BloomId) : (id as BloomId));
    const print = () => spellingPrint((id) => toIdKey(normalize ? normalize(inScope(id)) : id));
    const once = print();
    if (print() !== once) throw new BloomConfigError(normalizeVaries(name));
    this.normalize = normalize;
    this.print = once;
  }

  /** Whether each id has a scope; undefined where that is not known. */
  get isScoped(): boolean | undefined {
    return this.options.scoped;
  }

  /** Short text for how ids are spelled, the same in every process that spells them alike. */
  get spelling(): string {
    if (this.print === undefined) throw spellingUnknown();
    return this.print;
  }

  /** Whether keys are formed by this function, or with undefined by none. */
  spellsAs(normalize: IdKeysOptions['normalize']): boolean {
    return this.print !== undefined && this.normalize === normalize;
  }

  /**
   * The key of an id that is looked up.
   *
   * @param hasToFit whether an id over `maxIdBytes` may be refused before its key is formed.
   * @throws {BloomIdError} for a value that cannot be an id, and what `normalize` throws on an id.
   * @throws {BloomUnavailableError} while it is not known how ids are spelled.
   */
  of(id: unknown, hasToFit = false): IdKey {
    if (this.print === undefined) throw spellingUnknown();
    const { maxIdBytes } = this.options;
    const normal = this.normalize ? this.normalized(id, this.normalize) : id;
    // The text of a bigint costs much. A lookup needs it: another process may have built for longer ids.
    if (hasToFit && typeof normal === 'bigint' && hasMoreDigits(normal, maxIdBytes))
      throw tooLong(maxIdBytes);
    const key = toIdKey(normal);
    // Bytes are hashed later, when their owner may have changed them. Those that are too long never are.
    return typeof key === 'string' || key.length > maxIdBytes ? key : new Uint8Array(key);
  }

  /** The key of an id that is added. Throws a BloomIdError also for an id over `maxIdBytes`. */
  ofAdded(id: unknown): IdKey {
    const key = this.of(id, true);
    this.assertFits(key);
    return key;
  }

  assertFits(key: IdKey): void {
    const { maxIdBytes } = this.options;
    if (isLongerThan(key, maxIdBytes)) throw tooLong(maxIdBytes);
  }

  /** Short text to keep of a key, one for all spellings of the id. Undefined for an id over `maxIdBytes`. */
  digestOf(key: IdKey): string | undefined {
    return isLongerThan(key, this.options.maxIdBytes) ? undefined : idNote(key);
  }

  private normalized(id: unknown, normalize: (id: BloomId) => BloomId): unknown {
    try {
      return normalize(id as BloomId);
    } catch (error) {
      // A `normalize` that fails on an id is wrong; one that fails on another value never expected it.
      if (!(error instanceof BloomIdError)) toIdKey(id);
      throw error;
    }
  }
}

/** Why a lookup of an id without a key was answered `unknown`. */
export function noKeyEvent(filter: string, error: unknown): BloomEvent {
  if (error instanceof BloomUnavailableError)
    return { type: 'store-error', filter, operation: 'check', error };
  return { type: 'invalid-id', filter, error };
}

function spellingUnknown(): BloomUnavailableError {
  return new BloomUnavailableError(SPELLING_NOT_KNOWN_YET);
}
