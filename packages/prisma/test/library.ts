import type { Field, GeneratedClient, Model } from './generated-client.js';

/** The tables of a library, whose keys are foreign ones of each other. Changes of a key cascade. */
export const LIBRARY = `
create table authors (id serial primary key, slug text not null unique);
create table books (isbn text primary key, data jsonb,
  author text references authors (slug) on update cascade on delete set null,
  sequel_of text references books (isbn) on update cascade on delete set null);
create table profiles (slug text primary key references authors (slug) on update cascade on delete cascade);
create table notes (id serial primary key, profile text not null references profiles (slug) on update cascade on delete cascade)`;

/** Authors 2 and 3 have no book, and no profile has an author but the first. */
export const ROWS = `
truncate authors, books, profiles, notes restart identity;
insert into authors (slug) values ('first'), ('second'), ('third');
insert into books (isbn, author, sequel_of) values ('b1', 'first', null), ('b2', 'first', 'b1'), ('b3', null, null);
insert into profiles values ('first');
insert into notes (profile) values ('first')`;

type AnyModel = Model<Readonly<Record<string, Field<string, string>>>>;

/** The client of the library. */
export interface LibraryClient extends GeneratedClient {
  $executeRawUnsafe(statement: string): Promise<number>;
  $transaction<Result>(run: (client: this) => Promise<Result>): Promise<Result>;
  $transaction(batch: readonly Promise<unknown>[]): Promise<unknown[]>;
  readonly author: AnyModel;
  readonly book: AnyModel;
  readonly profile: AnyModel;
  readonly note: AnyModel;
  readonly loan: AnyModel;
}

/**
 * Fields of the filters: an id that is given, one that the database makes, and foreign keys of three kinds.
 */
export const FIELDS = [
  'Book.isbn',
  'Author.id',
  'Book.authorSlug',
  'Book.sequelOf',
  'Note.profileSlug',
] as const;

export type FilterName = (typeof FIELDS)[number];
