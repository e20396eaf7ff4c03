import pg, { type Client } from 'pg';
import { BloomConfigError } from 'nestjs-bloom';
import { rows } from './feed-table.js';
import { lsnOf } from './lsn.js';
import type { PostgresFeedOptions } from './postgres-feed-options.js';
import {
  noSlot,
  otherSlot,
  slotAhead,
  slotCreated,
  slotElsewhere,
  slotLost,
  slotOfOther,
  slotUnknown,
  tableIsAnother,
} from './postgres-feed.messages.js';

/** As JSON, since older versions have fewer columns. */
const SLOT = `
select to_jsonb(s) as slot, s.database = current_database() as "isHere" from pg_replication_slots s where slot_name = $1`;

interface Slot {
  readonly plugin: string | null;
  readonly confirmed_flush_lsn: string | null;
  readonly wal_status?: string | null;
}

/**
 * The server, and its line of commits: another one may have other commits at the same places, such as a
 * standby that has taken over before it had them all. The last checkpoint of a standby may still name the
 * line before.
 */
const SERVER = `
select (pg_control_system()).system_identifier || '-' || case when pg_is_in_recovery() then
  (pg_control_checkpoint()).timeline_id else ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int end as server`;

/** A slot that can be followed. */
export interface FeedSlot {
  /** Where it begins. */
  readonly confirmed: string;
  /** Names the server and its line. */
  readonly server: string;
  /** Why rows may have been missed. */
  readonly gap: string | undefined;
}

/** How far the filter has come, as it was noted, and the table as it is now. */
export interface FeedPlace {
  readonly position: string | undefined;
  /** That of a `FollowedTable`. */
  readonly print: string;
}

/**
 * The slot, which is created where it may be.
 *
 * @throws {BloomConfigError} when there is none, or it belongs to something else: what to run.
 */
export async function readySlot(
  client: Client,
  { slot: name, create = false }: Pick<PostgresFeedOptions, 'slot' | 'create'>,
  place: FeedPlace,
): Promise<FeedSlot> {
  const [{ server }] = (await rows<{ server: string }>(client, SERVER)) as [{ server: string }];
  const [found] = await rows<{ slot: Slot; isHere: boolean | null }>(client, SLOT, [name]);
  const quoted = pg.escapeLiteral(name);
  const creation = `SELECT pg_create_logical_replication_slot(${quoted}, 'pgoutput');`;
  if (!found) {
    if (!create) throw new BloomConfigError(noSlot(name, creation));
    return created(client, name, server);
  }
  const { slot, isHere } = found;
  if (slot.plugin !== 'pgoutput')
    throw new BloomConfigError(otherSlot(name, `one of ${slot.plugin ?? 'physical replication'}`));
  if (!isHere) throw new BloomConfigError(otherSlot(name, 'one of another database'));
  if (slot.wal_status === 'lost') {
    const removal = `SELECT pg_drop_replication_slot(${quoted});`;
    if (!create) throw new BloomConfigError(slotLost(name, `${removal} ${creation}`));
    await client.query(removal);
    return created(client, name, server);
  }
  const confirmed = slot.confirmed_flush_lsn ?? '0/0';
  return { confirmed, server, gap: gapOf({ ...place, name, confirmed, server }) };
}

/**
 * To be called when the slot is being read, so that nobody else can move, drop or create it any more.
 *
 * @returns why rows may have been missed since the slot was looked at.
 * @throws when the one that is being read is on another server.
 */
export async function movedSlot(
  client: Client,
  name: string,
  confirmed: string,
): Promise<string | undefined> {
  const [found] = await rows<{ slot: Slot }>(client, SLOT, [name]);
  if (!found) throw new Error(slotElsewhere(name));
  const reached = found.slot.confirmed_flush_lsn ?? '0/0';
  return lsnOf(reached) > lsnOf(confirmed) ? slotAhead(name, confirmed, reached) : undefined;
}

/** What is noted of how far the filter has come. */
export function textOfPosition(lsn: string, server: string, print: string): string {
  return `${lsn} ${server} ${print}`;
}

async function created(client: Client, name: string, server: string): Promise<FeedSlot> {
  const [made] = await rows<{ lsn: string }>(
    client,
    `select lsn::text from pg_create_logical_replication_slot($1, 'pgoutput')`,
    [name],
    // It waits for the transactions that are open.
    0,
  );
  return { confirmed: made!.lsn, server, gap: slotCreated(name) };
}

interface Compared extends FeedPlace {
  readonly name: string;
  readonly confirmed: string;
  readonly server: string;
}

/** A position is noted before the slot is moved to it: one that is further was moved by somebody else. */
function gapOf({ name, position = '', print, confirmed, server }: Compared): string | undefined {
  const [lsn = '', of, noted] = position.split(' ');
  try {
    const reached = lsnOf(lsn);
    if (of !== server) return slotOfOther(name);
    if (lsnOf(confirmed) > reached) return slotAhead(name, lsn, confirmed);
    return noted === print ? undefined : tableIsAnother(name);
  } catch {
    return slotUnknown(name);
  }
}
