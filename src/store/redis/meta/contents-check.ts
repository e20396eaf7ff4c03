import { BloomUnavailableError } from '../../../common/index.js';
import type { FilterContents, OpenFilterOptions } from '../../index.js';
import type { MetadataContext } from './filter-context.js';
import {
  BUILT_WITHOUT_SPELLING,
  epochOfOthers,
  OF_EARLIER_EPOCH,
  otherRows,
  SPELLED_OTHERWISE,
  unusableHere,
} from './meta.messages.js';
import { type MetadataSnapshot, type Meta, type MetaFields, PENDING } from './stored-meta.js';

const NOTHING_LIVE = { state: 'suspect', generation: undefined, shape: undefined, count: 0 } as const;

/** Keeps one process from what processes have built that spell ids otherwise, or read other rows. */
export class ContentsCheck<Stored, Snapshot extends MetadataSnapshot<Stored>> {
  /** The build that was noted last as one that this process does not use. */
  private contested = '';
  /** The build that was found to be usable last: it stays so while it is live. */
  private used = '';

  constructor(private readonly context: MetadataContext<Stored, Snapshot>) {}

  /**
   * The fields of a generation that this process stages, and their values.
   *
   * @throws {BloomUnavailableError} when other processes have begun an epoch.
   */
  async pendingFields(generation: Stored): Promise<readonly string[]> {
    const { contents, codec, name } = this.context;
    if (!contents) return [];
    const own = await this.own(contents);
    if (own.epoch === '') throw new BloomUnavailableError(epochOfOthers(name));
    return pendingContents(codec.originOf(generation), own);
  }

  /** To be called when what was usable may have to end. */
  forget(): void {
    this.used = '';
  }

  /**
   * The snapshot without the generations that this process must not use; 'STALE' when the metadata are others
   * by now.
   *
   * @throws {BloomUnavailableError} while it is not known what this process would build.
   */
  async usable(snapshot: Snapshot, { fields }: Meta<Stored>): Promise<Snapshot | 'STALE'> {
    const { contents, codec } = this.context;
    const { live, staging, description } = snapshot;
    const build = live && codec.originOf(live.generation);
    if (!contents || (!staging && (build ?? this.used) === this.used)) return snapshot;
    // An epoch counts that is asked for after the description was read.
    const own = await this.own(contents);
    const reason = build === undefined ? undefined : await this.reasonAgainst(build, own, fields);
    if (reason === 'STALE') return 'STALE';
    const isStagedByOthers = staging !== undefined && this.differs(own, fields, staging.generation);
    if (reason === undefined && !isStagedByOthers) return snapshot;
    return {
      ...snapshot,
      ...(reason !== undefined && { live: undefined, description: { ...description, ...NOTHING_LIVE } }),
      ...(isStagedByOthers && { staging: undefined }),
      others: {
        reason,
        staging: isStagedByOthers ? fields.get(`${PENDING}token`) : undefined,
        asStored: snapshot,
      },
    } as Snapshot;
  }

  private async own(contents: NonNullable<OpenFilterOptions['contents']>): Promise<StoredContents> {
    return { ...(await contents()), epoch: await this.context.epoch?.() };
  }

  /** Why this process must not use what is live; undefined when it may. */
  private async reasonAgainst(
    build: string,
    own: StoredContents,
    fields: MetaFields,
  ): Promise<string | undefined> {
    const { hasSource, ownsKey, scripts, keys } = this.context;
    if (build === this.used) return undefined;
    const found = contentsOf(fields, '', build);
    if (!found && !hasSource && own.epoch !== '') {
      const known = { sum: fields.get('sum') ?? '', contents: fields.get('contents') ?? '' };
      if (!(await scripts.trust(keys.meta, known, contentsText(build, own)))) return 'STALE';
    } else {
      const difference = differenceOf(own, found);
      if (difference !== undefined) {
        await this.contest(build);
        return unusableHere(difference, { hasSource, ownsKey });
      }
    }
    this.used = build;
    return undefined;
  }

  /**
   * Without a source nobody can build the filter anew: what an older version has built is taken to hold the
   * ids of this process.
   */
  private differs(own: StoredContents, fields: MetaFields, staged: Stored): boolean {
    const { codec, hasSource } = this.context;
    const found = contentsOf(fields, PENDING, codec.originOf(staged));
    return (found !== undefined || hasSource) && differenceOf(own, found) !== undefined;
  }

  /** Rebuilds that replace each other's generations have pauses between them, which all processes share. */
  private async contest(build: string): Promise<void> {
    const { scripts, keys, hasSource } = this.context;
    if (!hasSource || this.contested === build) return;
    await scripts.contest(keys.builds, build);
    this.contested = build;
  }
}

/**
 * The field names the build too: metadata that an older version has written keep the contents of an earlier
 * one.
 */
const CONTENTS = 'contents';

/** What a generation holds, and what a process would build. */
export interface StoredContents extends FilterContents {
  /**
   * The epoch of a partitioned filter; '' for a process that may build nothing in the present one. Undefined:
   * generations have none.
   */
  readonly epoch: string | undefined;
}

/** The field of a staged generation, and its value. */
export function pendingContents(build: string, contents: StoredContents): [string, string] {
  return [PENDING + CONTENTS, contentsText(build, contents)];
}

/** The value of the field of a live generation. */
export function contentsText(build: string, { spelling, rows = '', epoch }: StoredContents): string {
  return `${build} ${spelling}${epoch === undefined ? '' : `@${epoch}`} ${rows}`;
}

/** The contents of a build; undefined where the metadata do not say. */
export function contentsOf(
  fields: MetaFields,
  prefix: '' | typeof PENDING,
  build: string,
): StoredContents | undefined {
  const [named, spelled = '', ...rows] = (fields.get(prefix + CONTENTS) ?? '').split(' ');
  const [spelling, epoch] = spelled.split('@');
  return named === build && spelling ? { spelling, epoch, rows: rows.join(' ') || undefined } : undefined;
}

/** What makes a generation another one than this process would build; undefined where nothing does. */
export function differenceOf(own: StoredContents, found: StoredContents | undefined): string | undefined {
  if (!found) return BUILT_WITHOUT_SPELLING;
  if (own.spelling !== found.spelling) return SPELLED_OTHERWISE;
  if (own.rows !== undefined && found.rows !== undefined && own.rows !== found.rows)
    return otherRows(own.rows, found.rows);
  return own.epoch === '' || own.epoch !== found.epoch ? OF_EARLIER_EPOCH : undefined;
}
