import { inspect } from 'node:util';
import { helpOn } from './codes.js';

/** Base of every error this library throws. `code` is stable; the message is for people. */
export abstract class BloomError extends Error {
  /** Stable: for programs. */
  abstract readonly code: string;
  /** Address at which the code is explained. An error that ends the process is printed with both. */
  abstract readonly help: string;

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** An option, a name or a combination of them cannot work. Thrown at start-up, never on a lookup. */
export class BloomConfigError extends BloomError {
  readonly code = 'BLOOM_CONFIG';
  readonly help: string = helpOn(this.code);
}

/** A value cannot be an id, or an id is too long to be added. */
export class BloomIdError extends BloomError {
  readonly code = 'BLOOM_ID';
  readonly help: string = helpOn(this.code);
}

/** Stored data, such as a dump of another system, are cut short, damaged, or of an unknown version. */
export class BloomFormatError extends BloomError {
  readonly code = 'BLOOM_FORMAT';
  readonly help: string = helpOn(this.code);
}

/** A filter that does not grow holds as many ids as it was made for, and took no more. */
export class BloomFullError extends BloomError {
  readonly code = 'BLOOM_FULL';
  readonly help: string = helpOn(this.code);
}

/** The store could not carry out a write: unreachable, too slow, or its data were made by a newer version. */
export class BloomUnavailableError extends BloomError {
  readonly code = 'BLOOM_UNAVAILABLE';
  readonly help: string = helpOn(this.code);
}

/** Why a rebuild ended without a new generation. */
export type BloomRebuildFailure =
  /** The run was asked to stop. */
  | 'aborted'
  /** The lease went to another process, or could not be renewed. */
  | 'lease-lost'
  /** The id source threw. */
  | 'source-failed'
  /** The id source returned an id that cannot be added. */
  | 'bad-id'
  /** The id source returned no ids, or far fewer than the last time. */
  | 'too-few-ids'
  /** The id source kept returning more ids than planned for. */
  | 'too-many-ids'
  /** A staging key vanished, or an id that was read is not found in the staged generation. */
  | 'staging-damaged'
  /** The store has no memory for a second generation, or had to evict the staged one. */
  | 'no-memory'
  /** The store could not be reached or refused a step. */
  | 'store-failed';

/** A rebuild ended without a new generation. The filter that was live before is still live. */
export class BloomRebuildError extends BloomError {
  readonly code = 'BLOOM_REBUILD';
  readonly help: string = helpOn(this.code);
  /** Milliseconds before which an automatic attempt is of no use; undefined when unknown. */
  readonly retryAfterMs: number | undefined;

  constructor(
    /** Why. */
    readonly reason: BloomRebuildFailure,
    message: string,
    options?: ErrorOptions & { readonly retryAfterMs?: number | undefined },
  ) {
    super(message, options);
    this.retryAfterMs = options?.retryAfterMs;
  }
}

/** The text of anything that was thrown. */
export function describeError(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Any value, however odd, as a short text for an error message. */
export function printed(value: unknown): string {
  const text = inspect(value, { depth: 1, breakLength: Infinity });
  return text.length > 100 ? `${text.slice(0, 100)}…` : text;
}

const PRINTED_ID = 64;
/** Line ends, cursor moves and direction marks: an id must not decide what a log shows. */
const UNPRINTABLE =
  // oxlint-disable-next-line no-control-regex
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|\p{Cs}/gu;

/** A text with what cannot be printed as `\u….` */
export function escaped(text: string): string {
  return text.replace(
    UNPRINTABLE,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** An id that a client may have chosen, short and without anything that cannot be printed. */
export function printedId(id: string | number | bigint | Uint8Array): string {
  if (typeof id === 'string') return `'${escaped(id.slice(0, PRINTED_ID))}'${more(id.length, 'characters')}`;
  if (typeof id === 'number') return String(id);
  if (typeof id === 'bigint') {
    // Decimal text of a long bigint costs quadratic time.
    const isShort = BigInt.asIntN(256, id) === id;
    return isShort ? `${id}n` : `0x${BigInt.asUintN(256, id).toString(16)}n (its last 256 bits)`;
  }
  return `bytes ${Buffer.from(id.subarray(0, PRINTED_ID / 2)).toString('hex')}${more(id.length * 2, 'digits')}`;
}

function more(length: number, what: string): string {
  return length > PRINTED_ID ? `… (${length} ${what})` : '';
}
