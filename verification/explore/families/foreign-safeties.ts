import { luaReplacing, luaWithout } from '../../../test/support/broken-lua.js';
import type { Safety } from '../broken-store.js';

const PROVED_ADD = /if not \(isProved\(KEYS\[2\], ARGV\[3\]\) and hasSettings\(.*\)\) then return 'LOST' end/;

/** Every safety of filters on keys of others, with the way to take it out. */
export const FOREIGN_SAFETIES: readonly Safety[] = [
  {
    name: 'foreign-check-token',
    what: 'an id is absent only while the generation is live that the caller computed its bits for',
    shownBy: 586,
    take: () => ({
      lua: luaReplacing('bitmapCheck', /if .* ~= ARGV\[2\] then return 'STALE' end/, ''),
    }),
  },
  {
    name: 'foreign-check-proof',
    what: 'an id is absent only in a string that is proved to be the one of the generation',
    take: () => ({
      lua: luaWithout('settings', ['bitmapCheck'], luaWithout('check-proof', ['bitmapCheck'])),
    }),
  },
  {
    name: 'foreign-canaries',
    what: 'a string without its canaries is another one',
    shownBy: 169,
    take: () => ({
      lua: luaReplacing('bitmapCheck', "~= '\\255' then return 'LOST' end", "== 'x' then return 'LOST' end"),
    }),
  },
  {
    name: 'foreign-check-length',
    what: 'a string of another length is another one',
    shownBy: 28889,
    take: () => ({
      lua: luaReplacing(
        'bitmapCheck',
        /if \w+\('STRLEN', key\) ~= tonumber\(ARGV\[4\]\) then return 'LOST' end/,
        '',
      ),
    }),
  },
  {
    name: 'foreign-check-settings',
    what: 'settings beside the string are those of the generation',
    shownBy: 415,
    take: () => ({ lua: luaWithout('settings', ['bitmapCheck']) }),
  },
  {
    name: 'foreign-add-tag',
    what: '`add` refuses a caller that knows another live generation',
    shownBy: 303,
    take: () => ({ lua: luaWithout('add-tag', ['bitmapAdd']) }),
  },
  {
    name: 'foreign-add-proof',
    what: '`add` refuses a live string that is not the one of the generation',
    spare: 'every check proves the string again, which lacks its canaries still',
    take: () => ({ lua: luaReplacing('bitmapAdd', PROVED_ADD, '') }),
  },
  {
    name: 'foreign-recent',
    what: 'a string without the bits of the last adds is an older copy',
    take: () => ({ lua: luaWithout('recent-bits', ['bitmapAdd', 'bitmapCheck']) }),
  },
  {
    name: 'foreign-add-known',
    what: 'both of these',
    shownBy: 303,
    take: () => ({ lua: luaReplacing('bitmapAdd', PROVED_ADD, '', luaWithout('add-tag', ['bitmapAdd'])) }),
  },
  {
    name: 'foreign-add-pending-tag',
    what: '`add` refuses a caller that knows another staged generation, or none',
    shownBy: 168,
    take: () => ({ lua: luaWithout('add-pending-tag', ['bitmapAdd']) }),
  },
  {
    name: 'foreign-double-write',
    what: '`add` writes to the staged string too',
    shownBy: 226,
    take: () => ({ lua: luaWithout('double-write', ['bitmapAdd']) }),
  },
  {
    name: 'foreign-staged-again',
    what: '`add` withdraws a staging whose string is gone, and makes no other one',
    spare: 'a string that an add makes has no canaries, and the swap refuses it: it saves work only',
    take: () => ({ lua: luaReplacing('bitmapAdd', 'if isProved(KEYS[3], ARGV[6]) then', 'if true then') }),
  },
  {
    name: 'foreign-or-merge',
    what: 'a merge keeps the bits that adds have set in the staged string',
    // All bytes but those that are canaries: without these the swap would refuse.
    shownBy: 226,
    take: () => ({
      lua: luaReplacing(
        'bitmapMerge',
        "redis.call('SET', KEYS[3], staging)",
        "redis.call('SET', KEYS[3], (string.gsub(staging, '[^\\255]', '\\0')))",
      ),
    }),
  },
  {
    name: 'foreign-merge-token',
    what: 'a merge is refused without the lease',
    spare: 'staged keys carry the token in their names, and the swap asks for it: it saves work only',
    take: () => ({ lua: luaWithout('lease', ['bitmapMerge']) }),
  },
  {
    name: 'foreign-merge-length',
    what: 'a merge is refused when the staged string is not there whole',
    spare: 'a string that a merge makes has no canaries, and the swap refuses it: it saves work only',
    take: () => ({
      lua: luaReplacing(
        'bitmapMerge',
        /if redis.call\('STRLEN', KEYS\[2\]\) ~= .* then return 'LENGTH' end/,
        '',
      ),
    }),
  },
  {
    name: 'foreign-stage-proof',
    what: 'a live string is proved to be that of the generation before it is marked for the next one',
    shownBy: 313,
    take: () => ({
      lua: luaReplacing(
        'bitmapStage',
        "if ARGV[2] ~= '' and not isProved(live, ARGV[3]) then",
        'if false then',
      ),
    }),
  },
  {
    name: 'foreign-stage-token',
    what: 'a live string is marked only by a process that knows which generation is live',
    spare: 'under the lease nothing but a loss changes what is live, and the proof of the string asks again',
    take: () => ({
      lua: luaReplacing(
        'bitmapStage',
        /if \(redis\.\w+\('HGET', meta, 'token'\) or ''\) ~= ARGV\[2\] then return 'STALE' end/,
        '',
      ),
    }),
  },
  {
    name: 'foreign-stage-lease',
    what: 'a staging is made only under the lease',
    spare: 'what is staged without the lease is not published, nor swapped: it saves work only',
    take: () => ({ lua: luaWithout('lease', ['bitmapStage']) }),
  },
  {
    name: 'foreign-publish-lease',
    what: 'a staging is published only under the lease',
    spare: 'the swap asks for the lease, and for the staging that was published last: it saves work only',
    take: () => ({ lua: luaWithout('lease', ['publish']) }),
  },
  {
    name: 'foreign-swap-token',
    what: 'a swap is refused without the lease, or when another staging was published',
    spare:
      'what goes live has the contents of the staging that was published last, so no process uses it; `swap-token` shows the rule needed',
    take: () => ({ lua: luaWithout('staging-token', ['bitmapSwap'], luaWithout('lease', ['bitmapSwap'])) }),
  },
  {
    name: 'foreign-swap-live',
    what: 'a swap is refused when another generation is live than the one it was made against',
    spare:
      'under the lease nothing but a loss changes what is live, and a string that vanished has lost its mark; ' +
      'it is needed when an older copy is put back and noticed right before the swap, which no schedule has shown',
    take: () => ({ lua: luaWithout('live-token', ['bitmapSwap']) }),
  },
  {
    name: 'foreign-length',
    what: 'a swap is refused when the staged string is not there whole, with its canaries',
    shownBy: 573,
    take: () => ({ lua: luaWithout('staged-proof', ['bitmapSwap']) }),
  },
  {
    name: 'foreign-marked',
    what: 'a swap is refused when the live string is not the one that was marked when the staging was made',
    shownBy: 768,
    take: () => ({ lua: luaWithout('marked') }),
  },
  {
    name: 'foreign-adds',
    what: 'a swap keeps the bits that peers have set in the live string',
    shownBy: 176,
    take: () => ({ lua: luaWithout('foreign-adds') }),
  },
  {
    name: 'foreign-server',
    what: 'a swap is refused on a server other than the one that was staged on',
    spare: 'the generation would go live with the run id of the old server, and be suspect at the first look',
    take: () => ({ lua: luaWithout('server', ['bitmapSwap']) }),
  },
  {
    name: 'foreign-adopt-meta',
    what: 'a key is taken as it is only while there are no metadata, unless somebody says so',
    shownBy: 20371,
    take: () => ({ lua: luaReplacing('bitmapAdopt', /if not stateToAdopt[^]*?\n(?=local length)/, '') }),
  },
  {
    name: 'foreign-drain',
    what: 'the scan begins when transactions that began before the staging was published have ended',
    take: () => ({ drainsNot: true }),
  },
  {
    name: 'foreign-reconnect',
    what: 'the metadata are read again after a connection ended',
    shownBy: 341,
    take: () => ({ deafToClose: true }),
  },
  {
    name: 'foreign-suspect',
    what: 'a generation that went live on a server of another run id is taken offline',
    shownBy: 698,
    take: () => ({ trustsAfterFailover: true }),
  },
];
