import { printed } from 'nestjs-bloom/sources';

export const wrongFeedOption = (option: string, expected: string, got: unknown) =>
  `postgresFeed: expected ${option} to be ${expected}, got ${printed(got)}.`;

export const NO_LOGICAL_WAL = (level: string) =>
  `postgresFeed: expected wal_level to be logical, got ${level}. Run: ALTER SYSTEM SET wal_level = 'logical'; and restart Postgres.`;

export const noTable = (table: string) =>
  `postgresFeed: expected a table that this user sees, got ${table}. Give its name as the catalog has it, such as Product or shop.Product, and check the search_path.`;

export const notInLog = (relation: string) =>
  `postgresFeed: expected a table, and partitions, whose rows Postgres writes to its log, got ${relation}, which is a view, a foreign table or unlogged. Follow the table that has its rows, or detach it.`;

export const noColumn = (table: string, column: string) =>
  `postgresFeed: the table ${table} has no column ${printed(column)}. Give its name as the catalog has it.`;

export const isGenerated = (table: string, column: string) =>
  `postgresFeed: the column ${printed(column)} of ${table} is generated, and Postgres writes no generated values to its log. Follow a column that is stored as it was written, or use topUp.`;

export const noOneText = (table: string, column: string, type: string) =>
  `postgresFeed: the column ${printed(column)} of ${table} is of type ${type}, whose text depends on settings of each session: the source and the feed may write one id in two ways. Follow a column of text, integers, numeric, uuid or bytea.`;

export const noPublication = (publication: string, sql: string) =>
  `postgresFeed: there is no publication ${printed(publication)}. Run: ${sql} or set the option create.`;

export const tableNotPublished = (publication: string, table: string, sql: string) =>
  `postgresFeed: the publication ${printed(publication)} lacks the table ${table}, whose rows would be missed. Run: ${sql}`;

export const publishesTooLittle = (publication: string, sql: string) =>
  `postgresFeed: the publication ${printed(publication)} leaves out inserts or updates, whose rows would be missed. Run: ${sql}`;

export const hidesRows = (publication: string, table: string) =>
  `postgresFeed: the publication ${printed(publication)} has a row filter for ${table}, and would hide rows. Use a publication without one.`;

export const hidesColumn = (publication: string, table: string, column: string) =>
  `postgresFeed: the publication ${printed(publication)} leaves out the column ${printed(column)} of ${table}.`;

export const noSlot = (slot: string, sql: string) =>
  `postgresFeed: there is no replication slot ${printed(slot)}. Run: ${sql} or set the option create. The filter is rebuilt when the slot is there.`;

export const slotLost = (slot: string, sql: string) =>
  `postgresFeed: Postgres has given up the replication slot ${printed(slot)}, which was too far behind (max_slot_wal_keep_size). Run: ${sql} or set the option create. The filter is rebuilt when the slot is there.`;

export const otherSlot = (slot: string, what: string) =>
  `postgresFeed: the replication slot ${printed(slot)} is ${what}. Use another slot.`;

export const slotCreated = (slot: string) =>
  `The replication slot ${printed(slot)} is new: rows that were committed before are not in it.`;

export const slotUnknown = (slot: string) =>
  `It is not known how far the filter has come in the replication slot ${printed(slot)}.`;

export const slotElsewhere = (slot: string) =>
  `postgresFeed: expected the replication slot ${printed(slot)} on the server that was asked for it, and it is read on another one. The option connection has to lead to one server.`;

export const slotOfOther = (slot: string) =>
  `The replication slot ${printed(slot)} is on another server than the one that the filter has followed, or a standby has taken over.`;

export const slotAhead = (slot: string, position: string, confirmed: string) =>
  `The replication slot ${printed(slot)} is at ${confirmed}, and the filter has come to ${position}: the slot was created anew, or another program reads from it.`;

export const tableChanged = (table: string, parts: readonly string[]) =>
  `The table ${table} has become another one by ${parts.join(', ')}: rows may have come that are not in the log, as with a partition that is attached.`;

export const tableIsAnother = (slot: string) =>
  `The table of the replication slot ${printed(slot)}, its partitions, its column or its publication is not what it was when a place was noted last: rows may have come that are not in the log.`;

export const SILENT =
  'Postgres has said nothing for half a minute, though it was asked: the connection leads nowhere.';

export const STREAM_ENDED = 'Postgres has ended the replication.';

export const noLsn = (text: string) =>
  `Expected a place in the log of Postgres, such as 16/B374D848, got ${printed(text)}.`;
