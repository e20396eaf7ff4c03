import { printed } from '../../common/index.js';

export const wrongFeedOption = (option: string, expected: string, got: unknown) =>
  `postgresFeed: expected ${option} to be ${expected}, got ${printed(got)}.`;

export const NO_LOGICAL_WAL = (level: string) =>
  `postgresFeed: expected wal_level to be logical, got ${level}. Run: ALTER SYSTEM SET wal_level = 'logical'; and restart Postgres.`;

export const noTable = (table: string) =>
  `postgresFeed: there is no table ${table} that this user sees. Check its name, its schema and the search_path.`;

export const noColumn = (table: string, column: string) =>
  `postgresFeed: the table ${table} has no column ${printed(column)}.`;

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
  `The replication slot ${printed(slot)} is at ${confirmed}, and the filter has come to ${position}: the slot was created anew, or somebody else reads from it.`;

export const noColumnInLog = (table: string, column: string) =>
  `postgresFeed: expected the log to have the column ${printed(column)} of ${table}, and it has not: the column was renamed or left out of the publication.`;

export const SILENT =
  'Postgres has said nothing for half a minute, though it was asked: the connection leads nowhere.';

export const STREAM_ENDED = 'Postgres has ended the replication.';

export const noLsn = (text: string) =>
  `Expected a place in the log of Postgres, such as 16/B374D848, got ${printed(text)}.`;
