import type { Meta, MetadataReading, MetadataSnapshot, RawMeta } from './stored-meta.js';
import type { Refusal } from '../swap/rebuild-step.js';

/** `unbuilt` becomes `lost` when there is a live segment. */
export type OfflineState = 'unbuilt' | 'lost' | 'suspect';

/** What is taken out of service, unless the metadata say something else by now. */
export interface OfflineCommand<Stored> {
  readonly state: OfflineState;
  /** The generation that is live; undefined: none, or it is not known. */
  readonly live: Stored | undefined;
  /** What names it in metadata that make no sense. */
  readonly tag?: string;
  /** The metadata make no sense, and are written again. */
  readonly nonsense?: boolean;
  /** Builds that this process knows of. */
  readonly builds: number;
}

/** A generation that is made known to every process that adds. */
export interface PublishCommand<Stored> {
  /** Token of the lease. */
  readonly lease: string;
  /** Token of the staging. */
  readonly token: string;
  /** The server that the staging is on; '' when it may not be asked. */
  readonly runId: string;
  readonly generation: Stored;
  /** Further fields of it, and their values. */
  readonly fields: readonly string[];
}

/** Reads and writes one stored form of metadata; `MetadataCache` decides what follows from them. */
export interface MetadataCodec<Stored, Snapshot extends MetadataSnapshot<Stored>> {
  /** Version of the stored form. */
  readonly format: string;

  /** Whether the metadata of a filter that is being created again differ from those of a first build. */
  readonly noticesRecreation: boolean;

  /** Reads the reply of the script `describe`. */
  parse(type: string, pairs: readonly string[]): RawMeta<Stored>;

  /** What metadata mean here, or that there are none; `nonsense` when its settings make no sense. */
  snapshot(meta: Meta<Stored> | undefined, read: MetadataReading): Snapshot | 'nonsense';

  /** What names the build of a generation. */
  originOf(generation: Stored): string;

  /** The state that was set and the keys to remove; undefined when the metadata have changed. */
  offline(
    command: OfflineCommand<Stored>,
  ): Promise<{ readonly state: OfflineState; readonly retiredKeys: readonly string[] } | undefined>;

  publish(command: PublishCommand<Stored>): Promise<Refusal | 'OK'>;

  /** @param token of the staging */
  withdraw(token: string): Promise<void>;

  /** Has readers that do not look at the metadata notice that this generation is offline. Never rejects. */
  retire?(generation: Stored): Promise<void>;

  /** Keys of a generation that nobody else uses: they are removed when it was taken out of service. */
  ownKeys?(generation: Stored): readonly string[];

  /** Takes the filter as others have left it, in one of these states; missing metadata are `unbuilt`. */
  adopt?(states: readonly string[]): Promise<Adoption>;
}

/** What came of taking a filter as others have left it. */
export type Adoption =
  | { readonly outcome: 'adopted' }
  /** There is no such filter. */
  | { readonly outcome: 'missing' }
  /** What is there is not the filter that is meant: why, and what to do. */
  | { readonly outcome: 'unfit'; readonly reason: string }
  /** The metadata are not what they were: read them again. */
  | { readonly outcome: 'stale' };
