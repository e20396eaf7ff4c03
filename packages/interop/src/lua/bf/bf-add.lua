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

Only an id that was not there is noted as added last. When an id is there already, and peers may have added it, a copy from before that
is told by a mark that is added in its place.

Reply: 'STALE'  the generations are others than the caller knows; nothing was added
       'LOST'   the live filter is not there, is not of this generation, or lacks what was added last; nothing was added
       the reply of BF.INSERT; an empty array when there is no live generation
]]
--- @include "ask"
local known = ask('HMGET', KEYS[1], 'token', 'pending.token', 'recent')
--- @include "add-head"
--- @include "all-found"
--- @include "bf-recent"
--- @include "bf-items"
--- @include "bf-refused"

local canaries = tonumber(ARGV[3])
local live = ARGV[1] ~= ''
local recent, items = {}, nil
if live then
  recent, items = recentOf(known[3], ARGV[1])
  if not recent then return 'LOST' end
  local asked = { unpack(ARGV, 5, 4 + canaries) }
  for _, id in ipairs(recent) do
    asked[#asked + 1] = id
  end
  if not areFound(ask('BF.MEXISTS', KEYS[2], unpack(asked)), #asked) then return 'LOST' end
end

-- Peers read it also while the metadata name no generation, and so does a process that has not noticed yet.
local reply = insertItems(KEYS[2], unpack(ARGV, 5 + canaries))
if reply.err then
  local isFilter = redis.call('EXISTS', KEYS[2]) == 1 and isRefused(reply)
  if live or isFilter then return reply end
  reply = {}
end
if hasRefused(reply) then return reply end

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
    --- @include "bf-count"
    local now = itemsIn(KEYS[2])
    if not now then
      -- Only of ids that peers have added since the copy was made this proves nothing.
      items = items or 0
      note(last)
    elseif now ~= items then
      for i = 1, 4 do
        local marked = insertItems(KEYS[2], ARGV[4] .. i)
        -- A filter that does not scale has no room for it.
        fresh = marked[1] == 1 and { ARGV[4] .. i } or marked[1] ~= 0 and last or fresh
        if #fresh > 0 then break end
      end
      items = itemsIn(KEYS[2])
      note(fresh)
    end
  end
end

if isStaged then
  local ids = #ARGV - 4 - canaries
  -- A journal that is gone is not created again, and this staging, which lacks ids now, must not go live.
  if redis.call('RPUSHX', KEYS[3], unpack(ARGV, 5 + canaries)) == 0 then
    --- @include "forget-staging"
    forgetStaging(KEYS[1])
  else
    redis.call('HINCRBY', KEYS[1], 'journaled:' .. ARGV[2], ids)
  end
end
return live and reply or {}
