--[[
Adds ids to a filter of BF.* commands, and notes them in the journal of the staged one.

KEYS[1]     meta
KEYS[2]     the live filter
KEYS[3]     journal of the staged filter, when there is one
ARGV[1]     token of the live generation as the caller knows it, '' for none
ARGV[2]     token of the staged generation as the caller knows it, '' for none
ARGV[3]     number of canaries of the live generation
ARGV[4]     a text that was never added to any filter
ARGV[5..]   the canaries, then the ids

Which ids were added last stands in the field 'recent' of the metadata: the token, the number of ids that the filter held at least
when they were added, and the ids, each behind its length. A copy of the filter from before an add lacks its id, since only an id
that was not there is noted. When an id is there already, and peers may have added it, a copy from before that is told by a mark
that is added in its place.

Reply: 'STALE'  the generations are others than the caller knows; nothing was added
       'LOST'   the live filter is not there, is not of this generation, or lacks what was added last; nothing was added
       the reply of BF.INSERT; an empty array when there is no live generation
]]
local known = redis.call('TYPE', KEYS[1]).ok == 'hash' and redis.call('HMGET', KEYS[1], 'token', 'pending.token', 'recent') or {}
if (known[1] or '') ~= ARGV[1] then return 'STALE' end
--safety:add-pending-tag
if (known[2] or '') ~= ARGV[2] then return 'STALE' end
--end

local canaries = tonumber(ARGV[3])
local live = ARGV[1] ~= ''
local items, recent = nil, {}
if live then
  local asked = { unpack(ARGV, 5, 4 + canaries) }
--safety:recent
  local token, count, ids = string.match(known[3] or '', '^(%S+) (%d+)\n(.*)$')
  if token == ARGV[1] then
    items = tonumber(count)
    local at = 1
    while at <= #ids do
      local isSound, id, next = pcall(struct.unpack, '>I4c0', ids, at)
      if not isSound then return 'LOST' end
      recent[#recent + 1], asked[#asked + 1], at = id, id, next
    end
  end
--end
  local found = redis.pcall('BF.MEXISTS', KEYS[2], unpack(asked))
  if found.err then return string.find(found.err, 'WRONGTYPE', 1, true) and 'LOST' or found end
  for i = 1, #asked do
    if found[i] ~= 1 then return 'LOST' end
  end
end

-- Peers read it also while the metadata name no generation, and so does a process that has not noticed yet.
local reply = redis.pcall('BF.INSERT', KEYS[2], 'NOCREATE', 'ITEMS', unpack(ARGV, 5 + canaries))
if reply.err then
  local filter = redis.call('EXISTS', KEYS[2]) == 1 and not string.find(reply.err, 'WRONGTYPE', 1, true)
  if live or filter then return reply end
  reply = {}
end
for i = 1, #reply do
  if type(reply[i]) == 'table' then return reply end
end

--safety:recent
-- How many ids the filter holds; nothing where the server does not say.
local function count()
  local info = redis.pcall('BF.INFO', KEYS[2])
  for i = 1, info.err and 0 or #info, 2 do
    local name = type(info[i]) == 'table' and info[i].ok or info[i]
    if name == 'Number of items inserted' then return tonumber(info[i + 1]) end
  end
end

-- A few of the last ones, and no more than about 1 KiB, but the very last one whatever its length.
local function note(fresh)
  for i = 1, #fresh do
    recent[#recent + 1] = fresh[i]
  end
  local ids, bytes = {}, 0
  for i = #recent, math.max(1, #recent - 3), -1 do
    bytes = bytes + #recent[i]
    if bytes > 1024 and i < #recent then break end
    table.insert(ids, 1, struct.pack('>I4c0', #recent[i], recent[i]))
  end
  redis.call('HSET', KEYS[1], 'recent', ARGV[1] .. ' ' .. string.format('%d', items) .. '\n' .. table.concat(ids))
end

if live and #reply > 0 then
  local fresh, last = {}, { unpack(ARGV, math.max(5 + canaries, #ARGV - 3)) }
  for i = 1, #reply do
    if reply[i] == 1 then fresh[#fresh + 1] = ARGV[4 + canaries + i] end
  end
  if #fresh > 0 then
    items = (items or 0) + #fresh
    note(fresh)
  else
    local now = count()
    if not now then
      -- Only of ids that peers have added since the copy was made this proves nothing.
      items = items or 0
      note(last)
    elseif now ~= items then
      for i = 1, 4 do
        local marked = redis.pcall('BF.INSERT', KEYS[2], 'NOCREATE', 'ITEMS', ARGV[4] .. i)
        -- A filter that does not scale has no room for it.
        fresh = marked[1] == 1 and { ARGV[4] .. i } or marked[1] ~= 0 and last or fresh
        if #fresh > 0 then break end
      end
      items = count()
      note(fresh)
    end
  end
end
--end

--safety:double-write
if ARGV[2] ~= '' then
  local ids = #ARGV - 4 - canaries
  -- A journal that is gone is not made again, and this staging, which lacks ids now, must not go live.
  if redis.call('RPUSHX', KEYS[3], unpack(ARGV, 5 + canaries)) == 0 then
    redis.call('HDEL', KEYS[1], 'pending.token')
  else
    redis.call('HINCRBY', KEYS[1], 'journaled:' .. ARGV[2], ids)
  end
end
--end
return live and reply or {}
