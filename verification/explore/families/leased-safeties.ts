import { type CopyRule, copyStoreWithout } from '../../../test/support/broken-copies.js';
import { luaReplacing, luaWithout } from '../../../test/support/broken-lua.js';
import type { Safety } from '../broken-store.js';

const PUBLISHED = "redis.call('HSET', KEYS[1], unpack(ARGV, 6))";
const ANNOUNCES_EARLY =
  "redis.call('HSET', KEYS[1], 'pending.announced', redis.call('HGET', KEYS[1], 'pending.token') or '')";
const ANNOUNCED = "announcedTag(KEYS[1]) or ''";
const STAGED = "redis.call('HGET', KEYS[1], 'pending.tag') or ''";

const OTHER_LIST = "if ARGV[5] ~= copies.list then return 'GAP' end";

/**
 * The rules of copies that answer "absent", with the way to take each out: by its name in
 * verification/model/leased-copies-safeties.ts, where it stands there. Clocks and what the server knows of
 * its own run are in no model, and `feed-identity` of the model is both halves of it here.
 */
export const LEASED_SAFETIES: readonly Safety[] = [
  ofReader(
    'number-before-load',
    'a lease is asked for, and so the number of the feed learned, before blocks are loaded',
    { shownBy: 4 },
  ),
  ofReader('one-server', 'a copy is loaded from the server that granted its lease', { shownBy: 8429 }),
  ofReader(
    'renew-applied',
    'a renewal counts when all entries up to the number in its reply have been applied',
    { shownBy: 4 },
  ),
  ofReader('ack-applied', 'an entry is acknowledged after it has been applied', { shownBy: 14 }),
  ofReader('gap-seen', 'a copy that lacks entries is loaded again', { shownBy: 3220 }),
  ofReader(
    'message-follows',
    'an entry that comes as a message is applied only if it follows on what was applied',
    { shownBy: 1 },
  ),
  ofReader('tag-in-entry', 'an entry of another generation ends a copy', { shownBy: 15 }),
  ofReader('feed-identity', 'numbers belong to one feed: a copy that meets another one is loaded again', {
    spare: 'a reader of another list is given no renewal, and adds wait until the lease that it has is over',
  }),
  ofReader(
    'lease-ends',
    "a lease ends for its reader by the reader's own clocks, before it ends for the server",
    { shownBy: 2 },
  ),
  ofReader('before-asking', 'a lease is counted from before it was asked for, however late the reply comes', {
    shownBy: 202,
  }),
  ofReader('wall-clock', 'a lease ends when the wall clock says so, whatever the monotonic clock does', {
    shownBy: 2185,
  }),
  ofReader('monotonic-clock', 'a lease ends when the monotonic clock says so, whatever the wall clock does', {
    shownBy: 216,
  }),
  {
    name: 'unseen-waits',
    what: 'where the metadata know of no lease, adds and commits of a process that does wait until a whole lease has passed since it first saw that',
    shownBy: 63,
    take: () => ({ seesAllLeases: true }),
  },
  ofServer(
    'unseen-swap',
    'where the metadata know of no lease, a generation goes live no sooner than a whole lease after its staging',
    {
      spare:
        'the rebuild has to be over, and another process to have a new copy and a lease, within the lease of a reader that has not heard of the restart; the model shows it',
    },
  ),
  {
    name: 'feed-identity-both',
    what: '`feed-identity`, and that the server gives no renewal to a reader that names another list',
    shownBy: 822,
    take: async () => ({
      copyStore: await copyStoreWithout('feed-identity'),
      lua: luaReplacing('copyLease', OTHER_LIST, ''),
    }),
  },
  ofReader('own-copy', 'the copies of a process have the ids of its adds before these are sent', {
    shownBy: 2,
  }),
  ofServer(
    'wait-readers',
    'an add resolves when every reader has acknowledged its entry, or a whole lease has passed',
  ),
  ofServer(
    'repeat-waits',
    'an add of ids that are there already waits for the entries that are not acknowledged yet',
    { shownBy: 57 },
  ),
  ofServer('swap-entry', 'a swap is an entry, and its commit waits as an add does', { shownBy: 19 }),
  ofServer('wait-lost', 'an add that finds nothing live waits a whole lease', { shownBy: 13 }),
  ofServer(
    'new-waits',
    'a generation goes live where none was live no sooner than a whole lease after its staging',
    {
      spare:
        'metadata that are created again say that leases may be out, and a list that nobody wrote on this server counts as lost',
    },
  ),
  ofServer(
    'until-in-meta',
    'the latest end of any lease stands in the metadata, so a list that was lost is noticed',
    { shownBy: 967 },
  ),
  ofServer('same-list', 'acknowledgements count on the list under which the entry was written', {
    shownBy: 1358,
  }),
  {
    name: 'told-by-server',
    what: 'what readers have acknowledged counts on the server that began their list, whether it is asked or tells',
    spare:
      'the list of an earlier server lasts until the next lease or add on the new one: the question of an add that waits has to come before those; specs show both ways',
    take: () => ({ believesAnyServer: true, lua: luaWithout('told-by-server') }),
  },
  ofServer('same-server', 'a list that another server wrote counts as lost', { shownBy: 87 }),
  {
    name: 'announced-whole',
    what: 'a staging is announced to readers when all that the source returned is in it',
    take: () => ({ lua: luaReplacing('publish', PUBLISHED, `${PUBLISHED}\n${ANNOUNCES_EARLY}`) }),
  },
  {
    name: 'announced-first',
    what: 'a reader begins to copy a staging after it was announced',
    take: () => ({ lua: luaReplacing('copyLease', ANNOUNCED, STAGED) }),
  },
  ofServer('next-in-entry', 'the entry of an add has the places of its ids in the announced staging too', {
    shownBy: 3,
  }),
  ofServer(
    'next-repeats',
    'while a staging is announced, an add of an id that is live already is an entry as well',
    { shownBy: 35 },
  ),
  ofReader('next-whole', 'a copy of a staging takes the place of the one before only when it is loaded', {
    shownBy: 427,
  }),
  ofReader('next-of-swap', 'a copy of a staging takes that place only when this staging goes live', {
    shownBy: 2747,
  }),
  ofServer(
    'announced-live',
    'a staging goes live as one that was announced only where a generation was live until then',
    { shownBy: 2747 },
  ),
];

function ofReader(name: CopyRule, what: string, more: Partial<Safety> = {}): Safety {
  return { name, what, ...more, take: async () => ({ copyStore: await copyStoreWithout(name) }) };
}

function ofServer(name: string, what: string, more: Partial<Safety> = {}): Safety {
  return { name, what, ...more, take: () => ({ lua: luaWithout(name) }) };
}
