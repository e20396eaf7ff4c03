--[[
Puts the staged string in the place of the live one, with the bits that peers have set meanwhile: string, settings and metadata at
once.

KEYS[1]  meta
KEYS[2]  lease
KEYS[3]  the staged string
KEYS[4]  the live string
KEYS[5]  where the old string is moved
KEYS[6]  the snapshot
KEYS[7]  scratch string
KEYS[8]  a hash with settings that peers keep beside the live string, if they do
ARGV[1]  token of the lease
ARGV[2]  token of the staging
ARGV[3]  run id of the server that the generation was staged on, '' when it may not be asked
ARGV[4]  token of the old generation, '' for none
ARGV[5]  proof of the staged string: length in bytes (4), number of canaries (1), the byte offset of each (4), all big-endian;
         then the bytes with which the string begins
ARGV[6]  bits of the live string to keep: 'keep' all, 'recent' those that the snapshot has not, 'none'
ARGV[7]  life of the old string, in milliseconds
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
       'SETTINGS' the settings are no longer those that were found
       'OK'
]]
local meta, staged, live = KEYS[1], KEYS[3], KEYS[4]
--safety:swap-token
if redis.call('GET', KEYS[2]) ~= ARGV[1] then return 'LEASE' end
--end
if redis.call('TYPE', meta).ok ~= 'hash' then return 'NOMETA' end
local known = redis.call('HMGET', meta, 'pending.token', 'token', 'recent')
--safety:swap-token
if known[1] ~= ARGV[2] then return 'STALE' end
--end
if (known[2] or '') ~= ARGV[4] then return 'STALE' end
--safety:server
if ARGV[3] ~= '' and not string.find(redis.call('INFO', 'server'), 'run_id:' .. ARGV[3], 1, true) then
  return 'SERVER'
end
--end

local length, canaries = struct.unpack('>I4B', ARGV[5])
local head = string.sub(ARGV[5], 6 + 4 * canaries)
local function hasCanaries(key)
  if redis.call('STRLEN', key) ~= length then return false end
  for i = 1, canaries do
    local at = string.format('%d', (struct.unpack('>I4', ARGV[5], 2 + 4 * i)))
    if redis.call('GETRANGE', key, at, at) ~= '\255' then return false end
  end
  return true
end
--safety:length
if not hasCanaries(staged) then return 'LENGTH' end
--end

local settingsFound, settingsNew = tonumber(ARGV[10]), tonumber(ARGV[11])
local settingsType = KEYS[8] and redis.call('TYPE', KEYS[8]).ok or 'none'
local hasSettings = settingsType ~= 'none'
if hasSettings and (settingsFound == 0 or settingsType ~= 'hash') then return 'SETTINGS' end
for i = 12, hasSettings and 11 + settingsFound or 0, 2 do
  if redis.call('HGET', KEYS[8], ARGV[i]) ~= ARGV[i + 1] then return 'SETTINGS' end
end

local kind = redis.call('TYPE', live).ok
if kind ~= 'none' and kind ~= 'string' then return 'TYPE' end
if kind == 'string' and (tonumber(redis.call('HGET', meta, 'builds') or 0) or 0) == 0 then
  local found = redis.call('STRLEN', live)
  if found > 0 and KEYS[8] and not hasSettings then return 'TYPE' end
  if found > length then return 'TYPE' end
  if found > 0 and head ~= '' and redis.call('GETRANGE', live, 0, #head - 1) ~= head then return 'TYPE' end
  -- Bits are spread evenly: so many of them are all in the first part of a filter with a chance of less than e^-28.
  if found < length and redis.call('BITCOUNT', live, 0, 262143) * math.log(found / length) < -28 then return 'TYPE' end
end
--safety:marked
if ARGV[9] == '1' and not hasCanaries(live) then return 'LIVE' end
--end
--safety:recent-swap
-- An older copy that a peer has put back lacks what peers have added since. Whoever finds that takes the filter offline, or every rebuild would end here.
if ARGV[9] == '1' and known[2] then
  for i = 1, #(known[3] or '') - 3, 4 do
    if redis.call('GETBIT', live, string.format('%d', (struct.unpack('>I4', known[3], i)))) ~= 1 then
      redis.call('HDEL', meta, 'token', 'settings', 'canaries', 'sum', 'runId', 'recent')
      redis.call('HSET', meta, 'state', 'lost')
      return 'LIVE'
    end
  end
end
--end
local life = -1
if kind == 'string' then
  local isMerged = ARGV[8] == '1' and ARGV[6] ~= 'none' and (settingsFound == 0 or hasSettings)
  if isMerged and redis.call('STRLEN', live) > 0 then
    if redis.call('STRLEN', live) > length then return 'TYPE' end
    if head ~= '' and redis.call('GETRANGE', live, 0, #head - 1) ~= head then return 'TYPE' end
    local source = live
--safety:foreign-adds
    if ARGV[6] == 'recent' and redis.call('STRLEN', KEYS[6]) == length then
      redis.call('BITOP', 'NOT', KEYS[7], KEYS[6])
      redis.call('BITOP', 'AND', KEYS[7], KEYS[7], live)
      source = KEYS[7]
    end
    redis.call('BITOP', 'OR', staged, staged, source)
--end
    redis.call('DEL', KEYS[7])
  end
  life = redis.call('PTTL', live)
  redis.call('RENAME', live, KEYS[5])
  redis.call('PEXPIRE', KEYS[5], ARGV[7])
end
redis.call('PERSIST', staged)
redis.call('RENAME', staged, live)
if life > 0 then redis.call('PEXPIRE', live, life) end
if settingsNew > 0 and not (hasSettings and ARGV[8] == '1') then
  redis.call('HSET', KEYS[8], unpack(ARGV, 12 + settingsFound, 11 + settingsFound + settingsNew))
end
redis.call('HDEL', meta, 'pending.token', 'pending.settings', 'pending.canaries', 'pending.sum', 'recent')
--safety:recent
-- Bits of the last adds that are in the new string too: a copy from before them, put back by a peer, still lacks them.
local recent = ''
for i = 1, #(known[3] or '') - 3, 4 do
  local offset = string.sub(known[3], i, i + 3)
  if redis.call('GETBIT', live, string.format('%d', (struct.unpack('>I4', offset)))) == 1 then recent = recent .. offset end
end
if recent ~= '' then redis.call('HSET', meta, 'recent', recent) end
--end
redis.call('HSET', meta, 'state', 'ready', unpack(ARGV, 12 + settingsFound + settingsNew))
local builds = tonumber(redis.call('HMGET', meta, 'builds')[1] or '') or 0
if builds < 0 or builds > 1e14 then builds = 0 end
redis.call('HSET', meta, 'builds', string.format('%d', builds + 1))
return 'OK'
