import type { Redis } from 'ioredis';
import type { BloomLayout } from 'nestjs-bloom/store';
import type { PeerKeyOptions } from '../../../src/index.js';

/** Another system on the very keys of a filter: what it sends to Redis, command by command. */
export interface Peer {
  readonly name: string;
  layout(key: string, options?: PeerKeyOptions): BloomLayout;
  /**
   * Damages after which a rebuild leaves the key alone until somebody deletes it: it may be something else.
   */
  readonly deletedBeforeRebuild: RegExp;
  /** All keys that the peer itself uses. */
  keys(key: string): string[];
  /** Makes an empty filter, as far as the peer leaves a trace of one. */
  init(client: Redis, key: string): Promise<void>;
  /** True when it was not there before; undefined of a peer that does not say. */
  add(client: Redis, key: string, id: string): Promise<boolean | undefined>;
  has(client: Redis, key: string, id: string): Promise<boolean>;
}

/** A filter that the peer has filled. */
export async function fillByPeer(
  peer: Peer,
  client: Redis,
  key: string,
  ids: readonly string[],
): Promise<void> {
  await peer.init(client, key);
  await Promise.all(ids.map((id) => peer.add(client, key, id)));
}

/** Ids that the peer denies. */
export async function deniedByPeer(
  peer: Peer,
  client: Redis,
  key: string,
  ids: readonly string[],
): Promise<string[]> {
  const found = await Promise.all(ids.map((id) => peer.has(client, key, id)));
  return ids.filter((_, i) => !found[i]);
}
