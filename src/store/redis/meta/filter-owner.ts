import {
  BloomConfigError,
  type BloomEventListener,
  type BloomFilterState,
  BloomUnavailableError,
} from '../../../common/index.js';
import { OtherPartitionsError } from '../../index.js';
import { otherOwner, ownerNotSet } from './meta.messages.js';
import type { ServerScripts } from './server-scripts.js';

/** Another application wrote the metadata. The event `other-owner` reports it once. */
export class OtherOwnerError extends BloomUnavailableError {}

/** The owner of a filter, and the application that asks. */
export interface Ownership {
  readonly name: string;
  /** The key of the metadata. */
  readonly key: string;
  /** This application; undefined: it is not compared. */
  readonly owner: string | undefined;
  readonly hasSource: boolean;
}

/** A filter of another application is looked at again after this time. */
const RECHECK_MS = 250;

/** Keeps one process from the filter of another application, and claims one that nobody has claimed. */
export class FilterOwnership {
  private reportedOwner = '';
  private refused: { readonly error: OtherOwnerError; readonly at: number } | undefined;
  /** The format of metadata that name no application. */
  private unclaimed: string | undefined;
  private hasReportedFailure = false;

  constructor(
    private readonly filter: Ownership & {
      readonly emit: BloomEventListener;
      readonly scripts: Pick<ServerScripts, 'claim'>;
    },
  ) {}

  /** The error of the last look, as long as it is not due to look again. */
  get lastRefusal(): OtherOwnerError | undefined {
    const { refused } = this;
    return refused && performance.now() - refused.at < RECHECK_MS ? refused.error : undefined;
  }

  /** @throws {OtherOwnerError} for metadata of another application: nothing may be written then. */
  assertOurs(fields: readonly string[]): void {
    const { owner, hasSource } = this.filter;
    this.refused = undefined;
    this.unclaimed = undefined;
    const found = valueOf(fields, 'owner');
    // Without a source a filter is only added to: applications that share it deny each other nothing.
    if (found === '' && owner !== undefined && hasSource) this.unclaimed = valueOf(fields, 'format');
    if (found === '' || found === owner) return;
    if (owner === undefined) this.adviseOn(found);
    else this.refuse(owner, found);
  }

  /** Whether what is live may lack rows of this application, since nobody knows who built it. */
  get isForeign(): boolean {
    return this.unclaimed !== undefined;
  }

  /**
   * Claims the filter, if nobody has. A live one must be offline before: if this process ended right after
   * its claim, the application would believe a filter of rows of others.
   *
   * @throws {OtherOwnerError} when another application was faster.
   */
  async claim(state: BloomFilterState): Promise<void> {
    const { name, key, owner, emit, scripts } = this.filter;
    const { unclaimed: format } = this;
    if (owner === undefined || format === undefined || format === '') return;
    let claimed: { owner: string; isNew: boolean };
    try {
      claimed = await scripts.claim(key, owner, format);
    } catch (error) {
      if (!this.hasReportedFailure)
        emit({ type: 'store-error', filter: name, operation: 'claim the filter', error });
      this.hasReportedFailure = true;
      return;
    }
    this.unclaimed = undefined;
    // Nothing is live of a filter that is lost or was never built, so it lacks no rows of this application.
    if (claimed.isNew && state === 'suspect') emit({ type: 'filter-claimed', filter: name, owner, key });
    if (claimed.owner !== '' && claimed.owner !== owner) this.refuse(owner, claimed.owner);
  }

  private refuse(owner: string, found: string): never {
    const { name, key, hasSource, emit } = this.filter;
    const error = new OtherOwnerError(otherOwner({ name, key, hasSource }, owner, found));
    this.refused = { error, at: performance.now() };
    if (this.reportedOwner !== found) {
      this.reportedOwner = found;
      emit({ type: 'other-owner', filter: name, owner, found, error });
    }
    throw error;
  }

  /** What this application shares is not compared, and what it would build is refused. */
  private adviseOn(found: string): void {
    const { name, key, hasSource, emit } = this.filter;
    if (!hasSource || this.reportedOwner === found) return;
    this.reportedOwner = found;
    emit({ type: 'advice', filter: name, text: ownerNotSet(key, found) });
  }
}

/** '' when the metadata have no such field. */
function valueOf(fields: readonly string[], name: string): string {
  for (let i = 0; i + 1 < fields.length; i += 2) {
    if (fields[i] === name) return fields[i + 1]!;
  }
  return '';
}

/**
 * Asked when the application starts.
 *
 * @throws {BloomConfigError} when the filter belongs to another application, or is stored in another number
 * of parts.
 */
export async function verifyStored(options: {
  readonly name: string;
  readonly emit: BloomEventListener;
  readonly metadata: { reload(): Promise<unknown> };
}): Promise<void> {
  const { name, emit, metadata } = options;
  try {
    await metadata.reload();
  } catch (error) {
    if (error instanceof OtherOwnerError || error instanceof OtherPartitionsError)
      throw new BloomConfigError(error.message, { cause: error });
    emit({ type: 'store-error', filter: name, operation: 'verify the filter', error });
  }
}
