--[[
Adds ids to a filter of BF.* commands, and notes them in the journal of the staged one.

KEYS[1]     meta
KEYS[2]     the live filter
KEYS[3]     journal of the staged filter, when there is one
ARGV[1]     token of the live generation as the caller knows it, '' for none
ARGV[2]     token of the staged generation as the caller knows it, '' for none
ARGV[3]     number of canaries of the live generation
ARGV[4..]   the canaries, then the ids

Reply: 'STALE'  the generations are others than the caller knows; nothing was added
       'LOST'   the live filter is not there, or is not of this generation; nothing was added
       the reply of BF.INSERT; an empty array when there is no live generation
]]
local known = redis.call('TYPE', KEYS[1]).ok == 'hash' and redis.call('HMGET', KEYS[1], 'token', 'pending.token') or {}
if (known[1] or '') ~= ARGV[1] then return 'STALE' end
--safety:add-pending-tag
if (known[2] or '') ~= ARGV[2] then return 'STALE' end
--end

local canaries = tonumber(ARGV[3])
local live = ARGV[1] ~= ''
if live then
  local found = redis.pcall('BF.MEXISTS', KEYS[2], unpack(ARGV, 4, 3 + canaries))
  if found.err then return string.find(found.err, 'WRONGTYPE', 1, true) and 'LOST' or found end
  for i = 1, canaries do
    if found[i] ~= 1 then return 'LOST' end
  end
end

local writes = live
--safety:add-offline
-- Another process may answer from this filter until it reads that it went offline.
writes = true
--end
local reply = writes and redis.pcall('BF.INSERT', KEYS[2], 'NOCREATE', 'ITEMS', unpack(ARGV, 4 + canaries)) or {}
if reply.err then
  local filter = redis.call('EXISTS', KEYS[2]) == 1 and not string.find(reply.err, 'WRONGTYPE', 1, true)
  if live or filter then return reply end
  reply = {}
end
for i = 1, #reply do
  if type(reply[i]) == 'table' then return reply end
end

--safety:double-write
if ARGV[2] ~= '' then
  local ids = #ARGV - 3 - canaries
  -- A journal that is gone is not made again, and this staging, which lacks ids now, must not go live.
  if redis.call('RPUSHX', KEYS[3], unpack(ARGV, 4 + canaries)) == 0 then
    redis.call('HDEL', KEYS[1], 'pending.token')
  else
    redis.call('HINCRBY', KEYS[1], 'journaled:' .. ARGV[2], ids)
  end
end
--end
return live and reply or {}
