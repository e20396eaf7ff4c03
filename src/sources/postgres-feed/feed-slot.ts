import pg, { type Client } from 'pg';
import { BloomConfigError } from '../../common/index.js';
import { rows } from './feed-table.js';
import { lsnOf } from './lsn.js';
import type { PostgresFeedOptions } from './postgres-feed-options.js';
import {
  noSlot,
  otherSlot,
  slotAhead,
  slotCreated,
  slotLost,
  slotUnknown,
} from './postgres-feed.messages.js';

/** As JSON, since older versions have fewer columns. */
const SLOT = `
select to_jsonb(s) as slot, s.database = current_database() as "isHere" from pg_replication_slots s where slot_name = $1`;

interface Slot {
  readonly plugin: string | null;
  readonly confirmed_flush_lsn: string | null;
  readonly wal_status?: string | null;
  readonly temporary: boolean;
}

/** A slot that can be followed. */
export interface FeedSlot {
  /** Where it begins. */
  readonly confirmed: string;
  /** Why rows may have been missed. */
  readonly gap: string | undefined;
}

/**
 * The slot, which is created where it may be.
 *
 * @param position how far the filter has come.
 * @throws {BloomConfigError} when there is none, or it belongs to something else: what to run.
 */
export async function readySlot(
  client: Client,
  { slot: name, create = false }: Pick<PostgresFeedOptions, 'slot' | 'create'>,
  position: string | undefined,
): Promise<FeedSlot> {
  const [found] = await rows<{ slot: Slot; isHere: boolean | null }>(client, SLOT, [name]);
  const quoted = pg.escapeLiteral(name);
  const creation = `SELECT pg_create_logical_replication_slot(${quoted}, 'pgoutput');`;
  if (!found) {
    if (!create) throw new BloomConfigError(noSlot(name, creation));
    return created(client, name);
  }
  const { slot, isHere } = found;
  if (slot.plugin !== 'pgoutput')
    throw new BloomConfigError(otherSlot(name, `one of ${slot.plugin ?? 'physical replication'}`));
  if (!isHere) throw new BloomConfigError(otherSlot(name, 'one of another database'));
  if (slot.wal_status === 'lost') {
    const removal = `SELECT pg_drop_replication_slot(${quoted});`;
    if (!create) throw new BloomConfigError(slotLost(name, `${removal} ${creation}`));
    await client.query(removal);
    return created(client, name);
  }
  const confirmed = slot.confirmed_flush_lsn ?? '0/0';
  return { confirmed, gap: gapOf(name, position, confirmed) };
}

async function created(client: Client, name: string): Promise<FeedSlot> {
  const [made] = await rows<{ lsn: string }>(
    client,
    `select lsn::text from pg_create_logical_replication_slot($1, 'pgoutput')`,
    [name],
    // It waits for the transactions that are open.
    0,
  );
  return { confirmed: made!.lsn, gap: slotCreated(name) };
}

/** A position is noted before the slot is moved to it: one that is further was moved by somebody else. */
function gapOf(name: string, position: string | undefined, confirmed: string): string | undefined {
  if (position === undefined) return slotUnknown(name);
  try {
    return lsnOf(confirmed) > lsnOf(position) ? slotAhead(name, position, confirmed) : undefined;
  } catch {
    return slotUnknown(name);
  }
}
