/** The rules of leased copies, each of which may be taken out. */
export const SAFETIES = {
  'number-before-load':
    'a reader asks for its lease, and so learns the number of the feed, before it loads blocks',
  'one-server': 'a copy is loaded from the server that granted its lease: another one may have less',
  'renew-applied': 'a renewal counts when all entries up to the number in its reply have been applied',
  'ack-applied': 'an entry is acknowledged after it has been applied',
  'gap-seen': 'a reader that finds entries trimmed which it has not applied drops its copy',
  'message-follows': 'an entry that comes as a message is applied only if it follows on what was applied',
  'wait-readers':
    'an add resolves when every reader with a lease has acknowledged its entry, or a whole lease has passed',
  'repeat-waits': 'an add of an id that is there already waits for the entries that are not acknowledged yet',
  'swap-entry': 'a swap is an entry, and its commit waits as an add does',
  'tag-in-entry': 'an entry of another generation ends a copy',
  'wait-lost': 'an add that finds nothing live waits a whole lease',
  'new-waits': 'a generation goes live where none was live no sooner than a whole lease after its staging',
  'until-in-meta':
    'the latest end of any lease stands in the metadata, so a list of readers that was lost is noticed',
  'same-list': 'acknowledgements count on the list under which the entry was written',
  'feed-identity': 'numbers belong to one feed: a reader that meets another one drops its copy',
  'same-server': 'a list that another server wrote counts as lost',
  'lease-ends': 'a lease ends for its reader before it ends for those who wait for that',
  'before-asking': 'a lease is counted from before it was asked for, however late its reply counts',
  'unseen-waits':
    'where the metadata know of no lease, adds and commits of a process that does wait until a whole lease has passed since it first saw that',
  'unseen-swap':
    'where the metadata know of no lease, a generation goes live no sooner than a whole lease after its staging',
  'own-copy':
    'an add counts as acknowledged by the copy of its own process, which has the id before the add is sent',
  'announced-whole': 'a staging is announced to readers when all that the source returned is in it',
  'announced-first': 'a reader begins to copy a staging after it was announced',
  'next-in-entry': 'the entry of an add has the places of its ids in the announced staging too',
  'next-repeats': 'while a staging is announced, an add of an id that is live already is an entry as well',
  'next-whole': 'a copy of a staging takes the place of the one before only when it is loaded',
  'next-of-swap': 'a copy of a staging takes that place only when this staging goes live',
  'announced-live':
    'a staging that was announced goes live as such only where a generation was live until then',
} as const;

export type Safety = keyof typeof SAFETIES;
