--[[
Sets the bits of ids in the string that is live and in the one that is staged.

KEYS[1]  meta
KEYS[2]  the live string
KEYS[3]  the staged string; without a staging it is not used
KEYS[4]  a hash with settings that peers keep beside the live string, if they do
ARGV[1]  token of the live generation as the caller knows it, '' for none
ARGV[2]  token of the staged generation as the caller knows it, '' for none
ARGV[3]  proof of the live string: length in bytes (4), number of canaries (1), the byte offset of each (4), all big-endian;
         then the bytes with which the string begins
ARGV[4]  bits of an id in the live string
ARGV[5]  for each id the offsets of its bits in the live string, 4 bytes each, big-endian
ARGV[6]  proof of the staged string
ARGV[7]  bits of an id in the staged string
ARGV[8]  for each id the offsets of its bits in the staged string
ARGV[9..] fields of the settings and the values they must have

Without a live generation, the bits are set in the live string all the same if it is there, for the peers that read it.

Reply: 'STALE'   the generations are others than the caller knows; nothing was set
       'LOST'    the live string or its settings are not those of this generation; nothing was set
       { flags } a character for each id: '1' when it was not there before; '' when there was nothing to set
]]
--- @include "ask"
local known = ask('HMGET', KEYS[1], 'token', 'pending.token', 'recent')
--- @include "add-head"
--- @include "bitmap-proved"
--- @include "bitmap-recent"
--- @include "settings"

local unpackOne, format = struct.unpack, string.format

-- Flags, and the last offsets of bits that were 0.
local function set(key, hashCount, records)
  local width, flags, fresh = 4 * tonumber(hashCount), {}, {}
  for at = 1, #records, width do
    local flag = '0'
    for i = at, at + width - 1, 4 do
      if redis.call('SETBIT', key, format('%d', (unpackOne('>I4', records, i))), 1) == 0 then
        flag = '1'
        fresh[#fresh + 1] = string.sub(records, i, i + 3)
      end
    end
    flags[#flags + 1] = flag
  end
  return table.concat(flags), table.concat(fresh, '', math.max(1, #fresh - 7))
end

-- One that is missing is never made.
local function isThere(key, proof)
  local length = ask('STRLEN', key)
  return type(length) == 'number' and length > 0 and length <= (partsOf(proof)) and hasSettings(KEYS[4], 9, #ARGV)
end

local flags
if ARGV[1] ~= '' then
  local recent, fresh = known[3] or '', nil
  if not (isProved(KEYS[2], ARGV[3]) and hasSettings(KEYS[4], 9, #ARGV)) then return 'LOST' end
  if not hasBits(KEYS[2], recent) then return 'LOST' end
  flags, fresh = set(KEYS[2], ARGV[4], ARGV[5])
  if fresh ~= '' then redis.call('HSET', KEYS[1], 'recent', string.sub(recent .. fresh, -32)) end
elseif ARGV[5] ~= '' and isThere(KEYS[2], ARGV[3]) then
  flags = set(KEYS[2], ARGV[4], ARGV[5])
end
if isStaged then
  if isProved(KEYS[3], ARGV[6]) then
    local stagingFlags = set(KEYS[3], ARGV[7], ARGV[8])
    if ARGV[1] == '' then flags = stagingFlags end
  else
    -- A staged string that is gone is not created again, and this staging, which lacks an id now, must not go
    -- live.
    --- @include "forget-staging"
    forgetStaging(KEYS[1])
  end
end
return { flags or '' }
