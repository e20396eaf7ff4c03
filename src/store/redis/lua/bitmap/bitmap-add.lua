--[[
Sets the bits of ids in the string that is live and in the one that is staged.

KEYS[1]  meta
KEYS[2]  the live string
KEYS[3]  the staged string; of no meaning when there is none
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
local isHash = redis.call('TYPE', KEYS[1]).ok == 'hash'
local known = isHash and redis.call('HMGET', KEYS[1], 'token', 'pending.token', 'recent') or {}
--safety:add-tag
if (known[1] or '') ~= ARGV[1] then return 'STALE' end
--end
--safety:add-pending-tag
if (known[2] or '') ~= ARGV[2] then return 'STALE' end
--end

local unpackOne, format = struct.unpack, string.format

-- A key of another type is no reason to fail; whatever else the server refuses is.
local function ask(...)
  local reply = redis.pcall(...)
  if type(reply) == 'table' and not string.find(reply.err, 'WRONGTYPE', 1, true) then redis.call(...) end
  return reply
end

local function isProved(key, proof)
  local length, canaries = unpackOne('>I4B', proof)
  if ask('STRLEN', key) ~= length then return false end
  for i = 1, canaries do
    local at = format('%d', (unpackOne('>I4', proof, 2 + 4 * i)))
    if redis.call('GETRANGE', key, at, at) ~= '\255' then return false end
  end
  local head = string.sub(proof, 6 + 4 * canaries)
  return head == '' or redis.call('GETRANGE', key, 0, #head - 1) == head
end

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

-- A copy of the string that is older than the last adds, put back by a peer, has all canaries and lacks these.
local function hasRecent(key, offsets)
  for i = 1, #offsets - 3, 4 do
    if redis.call('GETBIT', key, format('%d', (unpackOne('>I4', offsets, i)))) ~= 1 then return false end
  end
  return true
end

local function hasSettings()
  for i = 9, #ARGV, 2 do
    if ask('HGET', KEYS[4], ARGV[i]) ~= ARGV[i + 1] then return false end
  end
  return true
end

-- One that is missing is never made.
local function isThere(key, proof)
  local length = ask('STRLEN', key)
  return type(length) == 'number' and length > 0 and length <= (unpackOne('>I4', proof)) and hasSettings()
end

local flags
if ARGV[1] ~= '' then
  local recent, fresh = known[3] or '', nil
  if not (isProved(KEYS[2], ARGV[3]) and hasSettings()) then return 'LOST' end
--safety:recent
  if not hasRecent(KEYS[2], recent) then return 'LOST' end
--end
  flags, fresh = set(KEYS[2], ARGV[4], ARGV[5])
  if fresh ~= '' then redis.call('HSET', KEYS[1], 'recent', string.sub(recent .. fresh, -32)) end
elseif ARGV[5] ~= '' and isThere(KEYS[2], ARGV[3]) then
  flags = set(KEYS[2], ARGV[4], ARGV[5])
end
--safety:double-write
if ARGV[2] ~= '' then
  if isProved(KEYS[3], ARGV[6]) then
    local stagedFlags = set(KEYS[3], ARGV[7], ARGV[8])
    if ARGV[1] == '' then flags = stagedFlags end
  else
    -- A staged string that is gone is not made again, and this staging, which lacks an id now, must not go live.
    redis.call('HDEL', KEYS[1], 'pending.token', 'pending.settings', 'pending.canaries', 'pending.sum')
  end
end
--end
return { flags or '' }
