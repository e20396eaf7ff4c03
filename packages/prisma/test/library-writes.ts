import type { FilterName, LibraryClient } from './library.js';

const ID = 'Author.id';
const AUTHOR = 'Book.authorSlug';
const SERIES = 'Book.sequelOf';
const NOTE = 'Note.profileSlug';

type Write = (client: LibraryClient) => Promise<unknown>;

const second = { slug: 'second' };
const b3 = { isbn: 'b3' };

const updateBook =
  (data: object, isbn = 'b3'): Write =>
  ({ book }) =>
    book.update({ where: { isbn }, data });
const updateAuthor =
  (data: object, id = 2): Write =>
  ({ author }) =>
    author.update({ where: { id }, data });
const createAuthor =
  (books: object): Write =>
  ({ author }) =>
    author.create({ data: { slug: 'new', books } });
const upsertAuthor =
  (id: number, create: object, update: object): Write =>
  ({ author }) =>
    author.upsert({ where: { id }, create: { slug: 'new', ...create }, update });

/** All ways in which Prisma writes rows: a name, the write, and the filters for which it is refused. */
export const WRITES: readonly (readonly [string, Write, ...FilterName[]])[] = [
  // Rows of the model itself.
  ['create', ({ book }) => book.create({ data: { isbn: 'new', authorSlug: 'second', sequelOf: 'b3' } })],
  ['create connect', ({ book }) => book.create({ data: { isbn: 'new', author: { connect: second } } })],
  [
    'create connect by another key',
    ({ book }) =>
      book.create({ data: { isbn: 'new', author: { connect: { id: 2 } }, before: { connect: b3 } } }),
  ],
  [
    'create connect, nothing selected',
    ({ book }) =>
      book.create({ data: { isbn: 'new', author: { connect: { id: 2 } } }, select: { data: true } }),
  ],
  [
    'create create',
    ({ book }) => book.create({ data: { isbn: 'new', author: { create: { slug: 'new' } } } }),
    ID,
  ],
  [
    'create connectOrCreate',
    ({ book }) =>
      book.create({
        data: { isbn: 'new', author: { connectOrCreate: { where: { id: 2 }, create: { slug: 'new' } } } },
      }),
    ID,
  ],
  [
    'create of two, the other one nested',
    ({ book }) =>
      book.create({
        data: { isbn: 'new', sequels: { create: { isbn: 'newer', author: { connect: second } } } },
      }),
    AUTHOR,
    SERIES,
  ],
  [
    'create and connect',
    ({ book }) => book.create({ data: { isbn: 'new', sequels: { connect: b3 } } }),
    SERIES,
  ],
  ['create of a made id', ({ author }) => author.create({ data: { slug: 'new' } })],
  [
    'createMany',
    ({ book }) =>
      book.createMany({
        data: [
          { isbn: 'new', authorSlug: 'second', sequelOf: 'b2' },
          { isbn: 'newer', authorSlug: 'third', sequelOf: 'b3' },
        ],
      }),
  ],
  ['createMany of made ids', ({ author }) => author.createMany({ data: [{ slug: 'new' }] }), ID],
  [
    'createManyAndReturn',
    ({ book }) =>
      book.createManyAndReturn({
        data: [{ isbn: 'new', authorSlug: 'second', sequelOf: 'b3' }],
        omit: { isbn: true, authorSlug: true, sequelOf: true },
      }),
  ],
  [
    'createManyAndReturn of made ids',
    ({ author }) => author.createManyAndReturn({ data: [{ slug: 'new' }] }),
  ],
  ['update', updateBook({ isbn: 'new', authorSlug: 'second', sequelOf: { set: 'b2' } })],
  ['update of a key that others refer to', updateBook({ isbn: { set: 'new' } }, 'b1')],
  ['update connect', updateBook({ author: { connect: second }, before: { connect: { isbn: 'b2' } } })],
  ['update connect by another key', updateBook({ author: { connect: { id: 2 } } })],
  [
    'update connect, nothing selected',
    ({ book }) =>
      book.update({ where: b3, data: { author: { connect: { id: 2 } } }, select: { data: true } }),
  ],
  ['update create', updateBook({ author: { create: { slug: 'new' } } }), ID],
  [
    'update connectOrCreate, connected',
    updateBook({ author: { connectOrCreate: { where: { id: 2 }, create: { slug: 'new' } } } }),
    ID,
  ],
  [
    'update connectOrCreate, created',
    updateBook({ author: { connectOrCreate: { where: { id: 9 }, create: { slug: 'new' } } } }),
    ID,
  ],
  ['update upsert, created', updateBook({ author: { upsert: { create: { slug: 'new' }, update: {} } } }), ID],
  [
    'update upsert, updated',
    updateBook({ author: { upsert: { create: { slug: 'none' }, update: { slug: 'new' } } } }, 'b1'),
    ID,
  ],
  ['update update', updateBook({ author: { update: { slug: 'new' } } }, 'b1')],
  [
    'update update, with a condition',
    updateBook({ author: { update: { where: { id: 1 }, data: { slug: 'new' } } } }, 'b1'),
  ],
  ['update disconnect', updateBook({ author: { disconnect: true } }, 'b1')],
  ['update delete', updateBook({ author: { delete: true } }, 'b1')],
  [
    'updateMany',
    ({ book }) => book.updateMany({ where: b3, data: { isbn: 'new', authorSlug: 'third', sequelOf: 'b2' } }),
  ],
  [
    'updateMany of a key that others refer to',
    ({ author }) => author.updateMany({ where: { id: 1 }, data: { slug: 'new' } }),
  ],
  [
    'updateManyAndReturn',
    ({ book }) =>
      book.updateManyAndReturn({
        where: b3,
        data: { isbn: 'new', authorSlug: 'third', sequelOf: 'b2' },
        select: { data: true },
      }),
  ],
  [
    'updateManyAndReturn of a key that others refer to',
    ({ author }) => author.updateManyAndReturn({ where: { id: 1 }, data: { slug: { set: 'new' } } }),
  ],
  [
    'upsert, created',
    ({ book }) =>
      book.upsert({
        where: { isbn: 'new' },
        create: { isbn: 'new', author: { connect: { id: 2 } } },
        update: { authorSlug: 'third' },
      }),
  ],
  [
    'upsert, updated',
    ({ book }) =>
      book.upsert({
        where: b3,
        create: { isbn: 'new', authorSlug: 'third', sequelOf: 'b1' },
        update: { isbn: 'newer', author: { connect: { id: 2 } }, before: { connect: { isbn: 'b2' } } },
      }),
  ],
  ['delete', ({ book }) => book.delete({ where: b3 })],
  ['deleteMany', ({ author }) => author.deleteMany({ where: { id: 1 } })],

  // Rows of the model with one that they refer to.
  ['parent create connect', createAuthor({ connect: b3 }), AUTHOR],
  ['parent create create', createAuthor({ create: { isbn: 'new' } }), AUTHOR, SERIES],
  [
    'parent create createMany',
    createAuthor({ createMany: { data: [{ isbn: 'new', sequelOf: 'b3' }] } }),
    AUTHOR,
  ],
  [
    'parent create connectOrCreate',
    createAuthor({ connectOrCreate: { where: b3, create: { isbn: 'new', sequelOf: 'b1' } } }),
    AUTHOR,
  ],
  ['parent update connect', updateAuthor({ books: { connect: [b3] } }), AUTHOR],
  ['parent update set', updateAuthor({ books: { set: b3 } }), AUTHOR],
  ['parent update set nothing', updateAuthor({ books: { set: [] } }, 1)],
  ['parent update create', updateAuthor({ books: { create: { isbn: 'new', sequelOf: 'b3' } } }), AUTHOR],
  [
    'parent update createMany',
    updateAuthor({ books: { createMany: { data: [{ isbn: 'new', sequelOf: 'b3' }] } } }),
    AUTHOR,
  ],
  [
    'parent update connectOrCreate',
    updateAuthor({ books: { connectOrCreate: { where: b3, create: { isbn: 'new', sequelOf: 'b2' } } } }),
    AUTHOR,
  ],
  [
    'parent update upsert, created',
    updateAuthor({
      books: { upsert: { where: { isbn: 'new' }, create: { isbn: 'new', sequelOf: 'b3' }, update: {} } },
    }),
    AUTHOR,
  ],
  [
    'parent update update',
    updateAuthor({ books: { update: { where: { isbn: 'b1' }, data: { isbn: 'new', sequelOf: 'b3' } } } }, 1),
  ],
  [
    'parent update updateMany',
    updateAuthor({ books: { updateMany: { where: { isbn: 'b1' }, data: { sequelOf: 'b3' } } } }, 1),
  ],
  ['parent update disconnect', updateAuthor({ books: { disconnect: { isbn: 'b1' } } }, 1)],
  ['parent update delete', updateAuthor({ books: { delete: { isbn: 'b1' } } }, 1)],
  ['parent update deleteMany', updateAuthor({ books: { deleteMany: {} } }, 1)],
  ['parent upsert, created', upsertAuthor(9, { books: { connect: b3 } }, {}), AUTHOR],
  ['parent upsert, updated', upsertAuthor(2, {}, { books: { connect: b3 } }), AUTHOR],

  // The key of the parent.
  ['parent key update', updateAuthor({ slug: 'new' }, 1)],
  ['parent key upsert', upsertAuthor(1, {}, { slug: { set: 'newer' } })],
  [
    'parent key nested',
    ({ profile }) =>
      profile.update({ where: { slug: 'first' }, data: { author: { update: { slug: 'new' } } } }),
  ],
  [
    'parent key connect',
    ({ profile }) => profile.update({ where: { slug: 'first' }, data: { author: { connect: { id: 2 } } } }),
    NOTE,
  ],
  [
    'parent key written',
    ({ profile }) => profile.update({ where: { slug: 'first' }, data: { slug: 'second' } }),
  ],

  // Deeper, and beside each other.
  [
    'grandparent',
    ({ profile }) =>
      profile.update({ where: { slug: 'first' }, data: { author: { update: { books: { connect: b3 } } } } }),
    AUTHOR,
  ],
  [
    'grandchild',
    ({ author }) => author.create({ data: { slug: 'new', profile: { create: { notes: { create: {} } } } } }),
    NOTE,
  ],
  [
    'sibling connect',
    updateBook(
      { sequels: { update: { where: { isbn: 'b2' }, data: { author: { connect: second } } } } },
      'b1',
    ),
    AUTHOR,
  ],
  [
    'siblings',
    updateBook({ sequels: { create: { isbn: 'new', authorSlug: 'second' }, connect: { isbn: 'b1' } } }, 'b2'),
    SERIES,
  ],
  [
    'transaction',
    (client) =>
      client.$transaction((one) => one.book.update({ where: b3, data: { author: { connect: { id: 2 } } } })),
  ],
  [
    'batch',
    (client) =>
      client.$transaction([
        client.book.update({ where: b3, data: { author: { connect: { id: 2 } } } }),
        client.book.create({ data: { isbn: 'new', authorSlug: 'third', sequelOf: 'b3' } }),
      ]),
  ],
];
