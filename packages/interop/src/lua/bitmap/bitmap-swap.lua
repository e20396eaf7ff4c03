--[[
Puts the staged string in the place of the live one, with the bits that peers have set meanwhile: string, settings and metadata at
once.

KEYS[1]  meta
KEYS[2]  lease
KEYS[3]  the staged string
KEYS[4]  the live string
KEYS[5]  where the live string is moved when it is retired
KEYS[6]  a hash with settings that peers keep beside the live string, if they do
ARGV[1]  token of the lease
ARGV[2]  token of the staging
ARGV[3]  run id of the server that the generation was staged on, '' when it may not be asked
ARGV[4]  token of the live generation, which is retired, '' for none
ARGV[5]  proof of the staged string: length in bytes (4), number of canaries (1), the byte offset of each (4), all big-endian;
         then the bytes with which the string begins
ARGV[6]  'keep': the new string keeps the bits of the live one; 'none'
ARGV[7]  life of the retired string, in milliseconds
ARGV[8]  '1': the live bits are where they are in the staged string
ARGV[9]  '1': the live string was marked with the canaries of the staged one
ARGV[10] number of arguments about the settings found: fields and values
ARGV[11] number of arguments about the settings to write, if they are missing or others: fields and values
ARGV[12..] these, those, then fields and values of the generation

Reply: 'LEASE'    the lease is not the caller's
       'NOMETA'   meta is missing
       'STALE'    another staging was published, or the live generation is another one
       'SERVER'   the server is another one or restarted: adds that it had acknowledged may be missing in staging
       'LENGTH'   the staged string is not there whole
       'TYPE'     the live key is no string, or one that is no such filter; before the first build also one that cannot be told
                  from something else
       'LIVE'     the live string is not the one that was marked, or an older copy of it: what peers have added is not known
       'SETTINGS' the settings are no longer those that were found, or have vanished beside a string whose bits have to be kept
       'OK'
]]
--- @include "swap-head"
--- @include "bitmap-canaries"
--- @include "bitmap-head"
--- @include "bitmap-smaller"
--- @include "bitmap-recent"
--- @include "settings"
--- @include "retire"
--- @include "forget-live"
--- @include "forget-staging"
--- @include "go-live"
local meta, staging, live = KEYS[1], KEYS[3], KEYS[4]
local refusal, known = beginSwap('token', 'recent')
if refusal then return refusal end

local length, _, head = partsOf(ARGV[5])
--safety:staged-proof
if not hasCanaries(staging, ARGV[5]) then return 'LENGTH' end
--end

local settingsFound, settingsNew = tonumber(ARGV[10]), tonumber(ARGV[11])
local settingsType = KEYS[6] and redis.call('TYPE', KEYS[6]).ok or 'none'
local haveSettings = settingsType ~= 'none'
if haveSettings and (settingsFound == 0 or settingsType ~= 'hash') then return 'SETTINGS' end
if haveSettings and not hasSettings(KEYS[6], 12, 11 + settingsFound) then return 'SETTINGS' end

local kind = redis.call('TYPE', live).ok
if kind ~= 'none' and kind ~= 'string' then return 'TYPE' end
if kind == 'string' and buildsOf(meta) == 0 then
  local found = redis.call('STRLEN', live)
  if found > 0 and KEYS[6] and not haveSettings then return 'TYPE' end
  if found > length then return 'TYPE' end
  if found > 0 and not beginsWith(live, head) then return 'TYPE' end
  if isOfFewerBits(live, found, length) then return 'TYPE' end
end
--safety:marked
if ARGV[9] == '1' and not hasCanaries(live, ARGV[5]) then return 'LIVE' end
--end
--safety:recent-swap
-- An older copy that a peer has put back lacks what peers have added since. The filter goes offline at once,
-- or every rebuild would end here.
if ARGV[9] == '1' and known[2] and not hasBits(live, known[3] or '') then
  forgetLive(meta)
  redis.call('HSET', meta, 'state', 'lost')
  return 'LIVE'
end
--end
local life = -1
if kind == 'string' then
  local isMerged = ARGV[8] == '1' and ARGV[6] == 'keep'
  -- A string whose settings have vanished may hold what peers added before that: its size is not known, so
  -- nothing of it can be kept.
  if isMerged and settingsFound > 0 and not haveSettings and redis.call('STRLEN', live) > 0 then return 'SETTINGS' end
  if isMerged and redis.call('STRLEN', live) > 0 then
    if redis.call('STRLEN', live) > length then return 'TYPE' end
    if not beginsWith(live, head) then return 'TYPE' end
--safety:foreign-adds
    redis.call('BITOP', 'OR', staging, staging, live)
--end
  end
  life = redis.call('PTTL', live)
  retire(live, KEYS[5], ARGV[7])
end
redis.call('PERSIST', staging)
redis.call('RENAME', staging, live)
if life > 0 then redis.call('PEXPIRE', live, life) end
if settingsNew > 0 and not (haveSettings and ARGV[8] == '1') then
  redis.call('HSET', KEYS[6], unpack(ARGV, 12 + settingsFound, 11 + settingsFound + settingsNew))
end
forgetStaging(meta, '^recent$')
-- Bits of the last adds that are in the new string too: a copy from before them, put back by a peer, still
-- lacks them.
local recent = ''
for i = 1, #(known[3] or '') - 3, 4 do
  local offset = string.sub(known[3], i, i + 3)
  if redis.call('GETBIT', live, string.format('%d', (struct.unpack('>I4', offset)))) == 1 then recent = recent .. offset end
end
if recent ~= '' then redis.call('HSET', meta, 'recent', recent) end
goLive(meta, unpack(ARGV, 12 + settingsFound + settingsNew))
return 'OK'
