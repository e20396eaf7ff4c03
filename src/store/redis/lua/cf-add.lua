--[[
Adds ids to a cuckoo filter, a fingerprint for each, and to the staged one. An id that seems to be there four times already gets no
further fingerprint: what it relies on is noted among those that have to stay.

KEYS[1]    meta
KEYS[2,3]  the live filter, and the set of the fingerprints that have to stay in it
KEYS[4,5]  the same of the staged one
ARGV[1]    token of the live generation as the caller knows it, '' for none
ARGV[2]    token of the staged generation as the caller knows it, '' for none
ARGV[3]    number of canaries of the live generation
ARGV[4]    number of canaries of the staged generation
ARGV[5..]  the canaries, then for each id: the id, the name of its fingerprint in the live filter, and that in the staged one

Reply: 'STALE'  the generations are others than the caller knows; nothing was added
       'LOST'   the live filter is not there, or is not of this generation; nothing was added
       'FULL'   a filter is full; ids before the one that was refused were added
       { flags } a character for each id: '1' when it was not there before; none when there is no generation
]]
local known = redis.call('TYPE', KEYS[1]).ok == 'hash' and redis.call('HMGET', KEYS[1], 'token', 'pending.token') or {}
if (known[1] or '') ~= ARGV[1] or (known[2] or '') ~= ARGV[2] then return 'STALE' end

local liveCanaries, stagedCanaries = tonumber(ARGV[3]), tonumber(ARGV[4])
local first = 5 + liveCanaries + stagedCanaries

-- The set begins with its own name: one that is gone would let go what has to stay.
local function isThere(filter, kept, from, count)
  if redis.pcall('SISMEMBER', kept, 'kept') ~= 1 then return false end
  local found = redis.pcall('CF.MEXISTS', filter, unpack(ARGV, from, from + count - 1))
  if found.err then return false end
  for i = 1, count do
    if found[i] ~= 1 then return false end
  end
  return true
end

local function add(filter, kept, name)
  local flags = {}
  for i = first, #ARGV, 3 do
    local copies = redis.call('CF.COUNT', filter, ARGV[i])
    if copies < 4 then
      local reply = redis.pcall('CF.INSERT', filter, 'NOCREATE', 'ITEMS', ARGV[i])
      if reply.err or reply[1] ~= 1 then return nil end
    else
      redis.call('SADD', kept, ARGV[i + name])
    end
    flags[#flags + 1] = copies == 0 and '1' or '0'
  end
  return table.concat(flags)
end

local live, flags = ARGV[1] ~= '', ''
if live then
  if not isThere(KEYS[2], KEYS[3], 5, liveCanaries) then return 'LOST' end
  flags = add(KEYS[2], KEYS[3], 1)
  if not flags then return 'FULL' end
end
if ARGV[2] ~= '' then
  local staged = isThere(KEYS[4], KEYS[5], 5 + liveCanaries, stagedCanaries) and add(KEYS[4], KEYS[5], 2)
  -- A staging that lacks an id must not go live.
  if not staged then redis.call('HDEL', KEYS[1], 'pending.token') end
  if not live then flags = staged or flags end
end
return { flags }
