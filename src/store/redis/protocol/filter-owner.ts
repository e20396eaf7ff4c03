import { BloomConfigError, type BloomEventListener, BloomUnavailableError } from '../../../common/index.js';

/** The metadata of a filter were written by another application. Told by the event `other-owner`, not lookup by lookup. */
export class OtherOwnerError extends BloomUnavailableError {}

/** Of whom a filter is, and who asks. */
export interface Ownership {
  readonly name: string;
  /** The key of the metadata. */
  readonly key: string;
  /** This application; undefined: it is not compared. */
  readonly owner: string | undefined;
  readonly hasSource: boolean;
}

/** Which application the metadata name, if that is another one. Metadata without an owner are anybody's. */
export function otherOwner(owner: string | undefined, fields: readonly string[]): string | undefined {
  if (owner === undefined) return undefined;
  for (let i = 0; i + 1 < fields.length; i += 2) {
    if (fields[i] === 'owner' && fields[i + 1] !== '' && fields[i + 1] !== owner) return fields[i + 1];
  }
  return undefined;
}

export function otherOwnerError({ name, key, owner, hasSource }: Ownership, found: string): OtherOwnerError {
  const anew = hasSource ? `, or delete the key '${key}': the filter is rebuilt from its source then` : '';
  return new OtherOwnerError(
    `Filter '${name}' at '${key}' belongs to the application '${found}', and this one is '${owner}': each would answer "absent" for the ids of ` +
      'the other. Give the filter another name, or BloomModule another keyPrefix. If both applications share the same rows on purpose, set ' +
      `the same owner in both, BloomModule.forRoot({ owner }). If this application was renamed, set owner to '${found}'${anew}.`,
  );
}

/**
 * Asked when the application starts.
 *
 * @throws {BloomConfigError} when the filter belongs to another application.
 */
export async function verifyOwner(options: {
  readonly name: string;
  readonly owner: string | undefined;
  readonly emit: BloomEventListener;
  readonly views: { reload(): Promise<unknown> };
}): Promise<void> {
  const { name, owner, emit, views } = options;
  if (owner === undefined) return;
  try {
    await views.reload();
  } catch (error) {
    if (error instanceof OtherOwnerError) throw new BloomConfigError(error.message, { cause: error });
    emit({ type: 'store-error', filter: name, operation: 'ask whose filter it is', error });
  }
}
