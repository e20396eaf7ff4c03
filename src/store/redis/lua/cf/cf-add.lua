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
       'LOST'   the live filter is not there, is not of this generation, or not as the last write left it; nothing was added
       'FULL'   the live filter is full; ids before the one that was refused were added
       the error of the live filter, if it refused one for another reason; ids before that one were added
       { flags } a character for each id: '1' when it was not there before; none when there is no generation
]]
local known = redis.call('TYPE', KEYS[1]).ok == 'hash' and redis.call('HMGET', KEYS[1], 'token', 'pending.token', 'written') or {}
if (known[1] or '') ~= ARGV[1] or (known[2] or '') ~= ARGV[2] then return 'STALE' end

local liveCanaries, stagedCanaries = tonumber(ARGV[3]), tonumber(ARGV[4])
local first = 5 + liveCanaries + stagedCanaries

-- A key of another type is no reason to fail; whatever else the server refuses is.
local function ask(...)
  local reply = redis.pcall(...)
  if type(reply) == 'table' and reply.err and not string.find(reply.err, 'WRONGTYPE', 1, true) then redis.call(...) end
  return reply
end

-- The set begins with its own name: one that is gone would let go what has to stay.
local function isThere(filter, kept, from, count)
  if ask('SISMEMBER', kept, 'kept') ~= 1 then return false end
  local found = ask('CF.MEXISTS', filter, unpack(ARGV, from, from + count - 1))
  for i = 1, count do
    if found[i] ~= 1 then return false end
  end
  return true
end

-- What nobody else writes to has exactly as many fingerprints, removals and kept ones as the last write has left: an older copy,
-- put back, has not.
local function countsOf(filter, kept)
  local info, counts = redis.call('CF.INFO', filter), {}
  for i = 1, #info, 2 do
    counts[type(info[i]) == 'table' and info[i].ok or info[i]] = info[i + 1]
  end
  return string.format('%d %d %d', counts['Number of items inserted'], counts['Number of items deleted'], redis.call('SCARD', kept))
end

-- The flags; else nothing and why.
local function add(filter, kept, name)
  local flags = {}
  for i = first, #ARGV, 3 do
    local copies = redis.call('CF.COUNT', filter, ARGV[i])
    if copies < 4 then
      local reply = redis.pcall('CF.INSERT', filter, 'NOCREATE', 'ITEMS', ARGV[i])
      if reply[1] == -1 or reply.err and string.find(reply.err, 'Maximum expansions', 1, true) then return nil, 'FULL' end
      if reply.err then return nil, reply end
      if reply[1] ~= 1 then
        return nil, type(reply[1]) == 'table' and reply[1] or redis.error_reply('ERR CF.INSERT did not add the id')
      end
    else
      redis.call('SADD', kept, ARGV[i + name])
    end
    flags[#flags + 1] = copies == 0 and '1' or '0'
  end
  return table.concat(flags)
end

local live, flags, refusal = ARGV[1] ~= '', '', nil
if live then
  if not isThere(KEYS[2], KEYS[3], 5, liveCanaries) then return 'LOST' end
--safety:written
  local token, written = string.match(known[3] or '', '^(%S+) (.*)$')
  if token == ARGV[1] and written ~= countsOf(KEYS[2], KEYS[3]) then return 'LOST' end
--end
  -- Before anything is added: what cannot be written down must not be changed.
  redis.call('HSET', KEYS[1], 'written', known[3] or '')
  flags, refusal = add(KEYS[2], KEYS[3], 1)
  redis.call('HSET', KEYS[1], 'written', ARGV[1] .. ' ' .. countsOf(KEYS[2], KEYS[3]))
  if not flags then return refusal end
end
if ARGV[2] ~= '' then
  local staged = isThere(KEYS[4], KEYS[5], 5 + liveCanaries, stagedCanaries) and add(KEYS[4], KEYS[5], 2)
  -- A staging that lacks an id must not go live.
  if not staged then redis.call('HDEL', KEYS[1], 'pending.token') end
  if not live then flags = staged or flags end
end
return { flags }
