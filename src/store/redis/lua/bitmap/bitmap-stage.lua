--[[
Makes an empty string of bits for a rebuild. The live string is marked with the canaries of the staged one, so that the swap can tell
whether it has all that peers have added to it since; it is made when there is none, if peers read that in the same way.

KEYS[1]  lease
KEYS[2]  meta
KEYS[3]  the staged string
KEYS[4]  the live string
KEYS[5]  the snapshot
KEYS[6]  a hash with settings that peers keep beside the live string, if they do
ARGV[1]  token of the lease
ARGV[2]  token of the live generation, '' for none
ARGV[3]  proof of the live string, '' for none: length in bytes (4), number of canaries (1), the byte offset of each (4), all
         big-endian; then the bytes with which the string begins
ARGV[4]  proof of the staged string
ARGV[5]  life of the staged keys, in milliseconds
ARGV[6]  what is done with the live string: 'leave', 'mark', or 'make' when it is not there, else mark
ARGV[7]  '1': a snapshot is wanted
ARGV[8]  '1': the size is what every side must be told, and the live string, if there is one, has it
ARGV[9]  format to write
ARGV[10..] fields of the settings that were found, and their values

Reply: 'LEASE'    the lease is not the caller's
       'STALE'    the live generation is another one; or it was taken offline, since the live string is not that of it any more
       'LENGTH'   there is another staged string of this name
       'TYPE'     the live key is no string, one of another size, or, before the first build, one without the settings beside it
       'SETTINGS' the settings are no longer those that were found
       'MARKED'   the live string has the canaries of the staged one
       'OK'       it was left as it is
]]
local meta, staged, live = KEYS[2], KEYS[3], KEYS[4]
local format = string.format

local function canariesOf(proof)
  local length, count = struct.unpack('>I4B', proof)
  local places = {}
  for i = 1, count do
    places[i] = format('%d', (struct.unpack('>I4', proof, 2 + 4 * i)))
  end
  return length, places, string.sub(proof, 6 + 4 * count)
end

local function fill(key, length, places)
  if redis.call('STRLEN', key) < length then redis.call('SETRANGE', key, format('%d', length - 1), '\0') end
  for _, place in ipairs(places) do
    redis.call('SETRANGE', key, place, '\255')
  end
end

local function isProved(key, proof)
  local length, places, head = canariesOf(proof)
  if redis.call('STRLEN', key) ~= length then return false end
  for _, place in ipairs(places) do
    if redis.call('GETRANGE', key, place, place) ~= '\255' then return false end
  end
  return head == '' or redis.call('GETRANGE', key, 0, #head - 1) == head
end

if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 'LEASE' end
local kind = redis.call('TYPE', live).ok
if kind ~= 'none' and kind ~= 'string' then return 'TYPE' end
local length, places, head = canariesOf(ARGV[4])
local found = redis.call('STRLEN', live)
if ARGV[8] == '1' then
  if found > length then return 'TYPE' end
  -- Bits are spread evenly: so many of them are all in the first part of a filter with a chance of less than e^-28. This is a
  -- whole filter of less bits, for peers that would find nothing in one of more.
  if found > 0 and found < length and redis.call('BITCOUNT', live, 0, 262143) * math.log(found / length) < -28 then
    return 'TYPE'
  end
end

-- What nobody has known as a filter may be anything.
local isFirst = redis.call('TYPE', meta).ok ~= 'hash' or (tonumber(redis.call('HGET', meta, 'builds') or 0) or 0) == 0
if isFirst and found > 0 and KEYS[6] and redis.call('EXISTS', KEYS[6]) == 0 then return 'TYPE' end

local reply = 'OK'
if ARGV[6] ~= 'leave' then
  local metaType = redis.call('TYPE', meta).ok
  if metaType == 'none' then
    redis.call('HSET', meta, 'format', ARGV[9], 'state', 'unbuilt')
  elseif metaType ~= 'hash' then
    return 'STALE'
  end
  if (redis.call('HGET', meta, 'token') or '') ~= ARGV[2] then return 'STALE' end
  if ARGV[2] ~= '' and not isProved(live, ARGV[3]) then
    redis.call('HDEL', meta, 'token', 'settings', 'canaries', 'sum', 'runId', 'recent')
    redis.call('HSET', meta, 'state', 'lost')
    return 'STALE'
  end
  local hasSettings = #ARGV > 9 and redis.call('TYPE', KEYS[6]).ok == 'hash'
  for i = 10, #ARGV, 2 do
    if not hasSettings or redis.call('HGET', KEYS[6], ARGV[i]) ~= ARGV[i + 1] then return 'SETTINGS' end
  end
  if found > length then return 'TYPE' end
  if found > 0 and head ~= '' and redis.call('GETRANGE', live, 0, #head - 1) ~= head then return 'TYPE' end
  if found > 0 or ARGV[6] == 'make' then
    fill(live, length, places)
    reply = 'MARKED'
  end
end

local before = redis.call('STRLEN', staged)
-- A command that the client sent again after a broken connection has been carried out already.
if before == length then return reply end
if before ~= 0 then return 'LENGTH' end
fill(staged, length, places)
if head ~= '' then redis.call('SETRANGE', staged, 0, head) end
redis.call('PEXPIRE', staged, ARGV[5])
if ARGV[7] == '1' and redis.call('EXISTS', live) == 1 then
  redis.call('BITOP', 'OR', KEYS[5], live)
  -- What the live string will have grown by is new.
  fill(KEYS[5], length, {})
  redis.call('PEXPIRE', KEYS[5], ARGV[5])
end
return reply
