--[[
Asks a filter for ids, and proves that it is the one the caller knows before one is absent.

KEYS[1]   meta
KEYS[2]   the filter
ARGV[1]   field of the metadata that holds the generation's token
ARGV[2]   the token as the caller knows it
ARGV[3]   number of canaries of the generation
ARGV[4..] the canaries, then the ids

Reply: the reply of BF.MEXISTS, that of the canaries included; or, if that is not so of all that was asked for,
       'STALE'  the generation is another one by now
       'LOST'   the filter is not there, is not of this generation, or lacks what was added to it last
]]
local found = redis.pcall('BF.MEXISTS', KEYS[2], unpack(ARGV, 4))
local isFilter = not found.err
if not isFilter and not string.find(found.err, 'WRONGTYPE', 1, true) then return found end
local allFound = isFilter
for i = 1, isFilter and #found or 0 do
  if found[i] ~= 1 then
    allFound = false
    break
  end
end
if allFound then return found end

local isHash = redis.call('TYPE', KEYS[1]).ok == 'hash'
local known = isHash and redis.call('HMGET', KEYS[1], ARGV[1], 'recent') or {}
if known[1] ~= ARGV[2] then return 'STALE' end
if not isFilter then return 'LOST' end
for i = 1, tonumber(ARGV[3]) do
  if found[i] ~= 1 then return 'LOST' end
end
--safety:recent
-- A copy of the filter that is older than the last adds has all canaries and lacks these.
local token, ids = string.match(known[2] or '', '^(%S+) %d+\n(.+)$')
if ARGV[1] == 'token' and token == ARGV[2] then
  local recent, at = {}, 1
  while at <= #ids do
    local isSound, id, next = pcall(struct.unpack, '>I4c0', ids, at)
    if not isSound then return 'LOST' end
    recent[#recent + 1], at = id, next
  end
  local there = redis.pcall('BF.MEXISTS', KEYS[2], unpack(recent))
  if there.err then return there end
  for i = 1, #recent do
    if there[i] ~= 1 then return 'LOST' end
  end
end
--end
return found
