import type { MetadataContext } from './filter-context.js';
import type { OfflineCommand } from './metadata-codec.js';
import {
  FILTER_RECREATED,
  METADATA_GONE,
  METADATA_RECREATED,
  metadataNonsense,
  NOBODY_CLAIMED,
  SERVER_REPLACED,
} from './meta.messages.js';
import type { MetadataSnapshot, Meta, RawMeta } from './stored-meta.js';

/** Why the filter must not answer as the metadata say. */
export type Fault<Stored> = Omit<OfflineCommand<Stored>, 'builds'> & { readonly reason: string };

/** What one reading of the metadata showed beside them. */
export interface Finding {
  /** The server that answered; empty when it may not be asked. */
  readonly runId: string;
  /** Whether another server has answered on the same connection. */
  readonly isReplaced: boolean;
  /** Whether nobody knows which application built what is live. */
  readonly isForeign: boolean;
}

/**
 * Finds in the metadata of one filter what says that it must go offline. Knows what this process has seen
 * live before.
 */
export class MetadataFaults<Stored, Snapshot extends MetadataSnapshot<Stored>> {
  /** The generation that this process has last seen live: metadata that are missing were lost then. */
  lastLive: Stored | undefined;
  lastBuilds = 0;

  constructor(private readonly context: MetadataContext<Stored, Snapshot>) {}

  in(meta: RawMeta<Stored>, finding: Finding): Fault<Stored> | undefined {
    return this.ofFilter(meta) ?? this.ofServer(meta, finding) ?? this.ofOwner(meta, finding);
  }

  /** What of the metadata says that the filter is not the one that this process knew. */
  private ofFilter(meta: RawMeta<Stored>): Fault<Stored> | undefined {
    const lost = { live: undefined, state: 'lost' } as const;
    if (meta.kind === 'nonsense') {
      return { ...lost, tag: meta.tag, reason: metadataNonsense(meta.fault), nonsense: true };
    }
    if (meta.kind === 'missing') return this.lastLive && { ...lost, reason: METADATA_GONE };
    if (meta.kind === 'other') return undefined;
    if (meta.state === 'unbuilt' && this.lastLive !== undefined && this.isRecreationNoticed) {
      // A process that did not know the filter is creating it again, empty: its staging must not go live.
      return { ...lost, reason: METADATA_RECREATED, nonsense: true };
    }
    const isRecreated = this.isRecreated(meta);
    this.lastLive = meta.live ?? this.lastLive;
    if (isRecreated) return { ...lost, live: meta.live, reason: FILTER_RECREATED };
    if (meta.live !== undefined) this.lastBuilds = meta.builds;
    return undefined;
  }

  /**
   * Whether the server that answers may lack ids that another one had acknowledged, or this one before it
   * restarted.
   */
  private ofServer(meta: RawMeta<Stored>, { runId, isReplaced }: Finding): Fault<Stored> | undefined {
    if (meta.kind !== 'known' || meta.live === undefined || this.context.trustAfterFailover) return undefined;
    const isOfOtherRun = meta.runId !== '' && runId !== '' && meta.runId !== runId;
    if (!isReplaced && !isOfOtherRun) return undefined;
    return { live: meta.live, state: 'suspect', reason: SERVER_REPLACED };
  }

  /** Whether the filter may lack rows of this application. */
  private ofOwner(meta: RawMeta<Stored>, { isForeign }: Finding): Fault<Stored> | undefined {
    if (meta.kind !== 'known' || meta.live === undefined || !isForeign) return undefined;
    return { live: meta.live, state: 'suspect', reason: NOBODY_CLAIMED };
  }

  private get isRecreationNoticed(): boolean {
    return this.context.codec.noticesRecreation && !this.context.hasSource;
  }

  /** Every build counts on from the last one. With a source all ids are in the new filter as well. */
  private isRecreated({ live, builds }: Meta<Stored>): boolean {
    const { codec, hasSource, ownsKey, trustAfterFailover } = this.context;
    if (live === undefined || this.lastLive === undefined) return false;
    if (hasSource || !ownsKey || trustAfterFailover) return false;
    return codec.originOf(live) !== codec.originOf(this.lastLive) && builds <= this.lastBuilds;
  }
}
