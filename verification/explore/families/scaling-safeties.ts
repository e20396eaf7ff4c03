import { luaReplacing, luaWithout } from '../../../test/support/broken-lua.js';
import type { Breakage, Safety } from '../broken-store.js';

const GROW_TOKEN = /if ask\('HGET', KEYS\[1\], 'token'\) ~= ARGV\[2\] then return 'STALE' end/;

/** Every safety of filters that grow by layers, with the way to take it out. */
export const SCALING_SAFETIES: readonly Safety[] = [
  {
    name: 'scaling-check-token',
    what: 'an id is absent only from the list of layers that the metadata hold in that step',
    take: () =>
      replacing(
        'growingCheck',
        /if ask\('HGET', KEYS\[1\], ARGV\[1\]\) ~= ARGV\[2\] then return 'STALE' end/,
      ),
  },
  {
    name: 'scaling-check-block',
    what: 'a block that is not there whole, with the tag of its layer, is a loss and no answer',
    shownBy: 46,
    take: () => ({ readsAnyLayer: true }),
  },
  {
    name: 'scaling-add-live',
    what: '`add` refuses a caller that knows another list of layers',
    shownBy: 73,
    take: () => ({ lua: luaWithout('add-tag', ['growingAdd']) }),
  },
  {
    name: 'scaling-add-staged',
    what: '`add` refuses a caller that knows another staged generation, or none',
    shownBy: 50,
    take: () => ({ lua: luaWithout('add-pending-tag', ['growingAdd']) }),
  },
  {
    name: 'scaling-add-block',
    what: '`add` makes no block that is gone',
    take: () =>
      replacing(
        'growingAdd',
        /if .*#block ~= 256 then return nil end\n/,
        "if not block or #block ~= 256 then block = struct.pack('<I4', tags[layer]) .. string.rep('\\0', 252) end\n",
      ),
  },
  {
    name: 'scaling-add-tag',
    what: '`add` sets no bits in a block of another tag',
    shownBy: 202,
    take: () =>
      replacing('growingAdd', 'if words[1] ~= tags[layer] then return nil end', 'words[1] = tags[layer]'),
  },
  {
    name: 'scaling-double-write',
    what: '`add` writes to the staged generation too',
    shownBy: 50,
    take: () => ({ lua: luaWithout('double-write', ['growingAdd']) }),
  },
  {
    name: 'scaling-grow-lease',
    what: 'a layer is opened only under the lease',
    spare: 'another process that grew or emptied the filter has changed the token, which is compared',
    take: () => ({ lua: luaWithout('lease', ['growingGrow']) }),
  },
  {
    name: 'scaling-grow-token',
    what: 'a layer is put only on the list that it was made for',
    take: () => replacing('growingGrow', GROW_TOKEN),
  },
  {
    name: 'scaling-grow-known',
    what: 'both of these',
    take: () => ({ lua: luaReplacing('growingGrow', GROW_TOKEN, '', luaWithout('lease', ['growingGrow'])) }),
  },
  {
    name: 'scaling-grow-length',
    what: 'a layer is opened only when its segments are there whole',
    spare: 'a layer that is not there is a loss for every reader: it saves the filter, not an id',
    take: () => ({ lua: luaWithout('length', ['growingGrow']) }),
  },
  {
    name: 'scaling-swap-lease',
    what: 'a reset goes live only under the lease',
    spare: 'another process that grew or emptied the filter has changed a token, and those are compared',
    take: () => ({ lua: luaWithout('lease', ['growingSwap']) }),
  },
  {
    name: 'scaling-swap-tokens',
    what: 'a reset goes live only when it was published last, and the live list is that which it was made against',
    shownBy: 4852,
    take: () => ({
      lua: luaWithout('live-token', ['growingSwap'], luaWithout('staging-token', ['growingSwap'])),
    }),
  },
  {
    name: 'scaling-swap-length',
    what: 'a reset goes live only when its segments are there whole',
    spare: 'a layer that is not there is a loss for every reader: it saves the filter, not an id',
    take: () => ({ lua: luaWithout('length', ['growingSwap']) }),
  },
  {
    name: 'scaling-server',
    what: 'a reset goes live only on the server that it was staged on',
    spare: 'the generation would go live with the run id of the old server, and be suspect at the first look',
    take: () => ({ lua: luaWithout('server', ['growingSwap']) }),
  },
  {
    name: 'scaling-reconnect',
    what: 'the metadata are read again after a connection ended',
    shownBy: 61,
    take: () => ({ deafToClose: true }),
  },
  {
    name: 'scaling-suspect',
    what: 'a generation that went live on a server of another run id is taken offline',
    shownBy: 61,
    take: () => ({ trustsAfterFailover: true }),
  },
];

function replacing(script: Parameters<typeof luaReplacing>[0], text: string | RegExp, by = ''): Breakage {
  return { lua: luaReplacing(script, text, by) };
}
