--[[
Makes an empty string of bits for a rebuild. The live string is marked with the canaries of the staged one, so that the swap knows
whether it has all that peers have added to it since; it is made when there is none, if peers read that in the same way.

KEYS[1]  lease
KEYS[2]  meta
KEYS[3]  the staged string
KEYS[4]  the live string
KEYS[5]  a hash with settings that peers keep beside the live string, if they do
ARGV[1]  token of the lease
ARGV[2]  token of the live generation, '' for none
ARGV[3]  proof of the live string, '' for none: length in bytes (4), number of canaries (1), the byte offset of each (4), all
         big-endian; then the bytes with which the string begins
ARGV[4]  proof of the staged string
ARGV[5]  life of the staged keys, in milliseconds
ARGV[6]  what is done with the live string: 'leave', 'mark', or 'make' when it is not there, else mark
ARGV[7]  '1': the size is what every side must be given, and the live string, if there is one, has it
ARGV[8]  format to write
ARGV[9..] fields of the settings that were found, and their values

Reply: 'LEASE'    the lease is not the caller's
       'STALE'    the live generation is another one; or it was taken offline, since the live string is not that of it any more
       'LENGTH'   there is another staged string of this name
       'TYPE'     the live key is no string, one of another size, or, before the first build, one without the settings beside it
       'SETTINGS' the settings are no longer those that were found
       'MARKED'   the live string has the canaries of the staged one
       'OK'       it was left as it is
]]
--- @include "lease"
--- @include "bitmap-proved"
--- @include "bitmap-smaller"
--- @include "bitmap-mark"
--- @include "builds"
--- @include "make-meta"
--- @include "forget-live"
--- @include "settings"
local meta, staging, live = KEYS[2], KEYS[3], KEYS[4]
if not holdsLease(KEYS[1], ARGV[1]) then return 'LEASE' end
local kind = redis.call('TYPE', live).ok
if kind ~= 'none' and kind ~= 'string' then return 'TYPE' end
local length, _, head = partsOf(ARGV[4])
local found = redis.call('STRLEN', live)
-- A smaller one is for peers that would find nothing in one of more bits.
if ARGV[7] == '1' and (found > length or isOfFewerBits(live, found, length)) then return 'TYPE' end

-- What nobody has known as a filter may be anything.
local isFirst = redis.call('TYPE', meta).ok ~= 'hash' or buildsOf(meta) == 0
if isFirst and found > 0 and KEYS[5] and redis.call('EXISTS', KEYS[5]) == 0 then return 'TYPE' end

local reply = 'OK'
if ARGV[6] ~= 'leave' then
  if not makeMeta(meta, ARGV[8]) then return 'STALE' end
  if (redis.call('HGET', meta, 'token') or '') ~= ARGV[2] then return 'STALE' end
  if ARGV[2] ~= '' and not isProved(live, ARGV[3]) then
    forgetLive(meta)
    redis.call('HSET', meta, 'state', 'lost')
    return 'STALE'
  end
  if not hasSettings(KEYS[5], 9, #ARGV) then return 'SETTINGS' end
  if found > length then return 'TYPE' end
  if found > 0 and not beginsWith(live, head) then return 'TYPE' end
  if found > 0 or ARGV[6] == 'make' then
    mark(live, ARGV[4])
    reply = 'MARKED'
  end
end

local before = redis.call('STRLEN', staging)
-- A command that the client sent again after a broken connection has been carried out already.
if before == length then return reply end
if before ~= 0 then return 'LENGTH' end
mark(staging, ARGV[4])
if head ~= '' then redis.call('SETRANGE', staging, 0, head) end
redis.call('PEXPIRE', staging, ARGV[5])
return reply
