import type { BloomLayout } from '../../src/filter/index.js';
import type { RawCommand } from './server-link.js';

/** Where the filter of one schedule is on the server, and what stands there before anything happens. */
export interface Ground {
  readonly layout: BloomLayout;
  /** Beginning of the names of the keys beside `meta`. */
  readonly base: string;
  /** Ids that the filter holds at the beginning. */
  readonly holds: readonly string[];
  /** What peers do, where there are some. */
  readonly peer?: Peer;
  /** What gives the filter another size, where peers can. */
  readonly otherSettings?: readonly RawCommand[];
  /** Commands that make the beginning, and the keys that they make. */
  begin(): { readonly send: readonly RawCommand[]; readonly keys: readonly string[] };
  /** Whether a key, other than `meta`, holds a part of the live filter. */
  isLive(key: string): boolean;
  /** Whether a key holds a part of a filter that is being built. */
  isStaged(key: string): boolean;
}

/** Another program on the keys of the filter. */
export interface Peer {
  add(client: PeerClient, id: string): Promise<unknown>;
}

export type PeerClient = import('ioredis').Redis;
