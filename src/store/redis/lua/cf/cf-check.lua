--[[
Asks a cuckoo filter for ids, and proves that it is the one the caller knows before one is absent.

KEYS[1]   meta
KEYS[2]   the filter
ARGV[1]   field of the metadata that holds the generation's token
ARGV[2]   the token as the caller knows it
ARGV[3]   number of canaries of the generation
ARGV[4..] the canaries, then the ids

Reply: 'STALE'  the generation is another one by now
       'LOST'   the filter is not there, is not of this generation, or not as the last write left it
       the reply of CF.MEXISTS, that of the canaries included
]]
local isHash = redis.call('TYPE', KEYS[1]).ok == 'hash'
local known = isHash and redis.call('HMGET', KEYS[1], ARGV[1], 'written') or {}
if known[1] ~= ARGV[2] then return 'STALE' end
local found = redis.pcall('CF.MEXISTS', KEYS[2], unpack(ARGV, 4))
if found.err then return string.find(found.err, 'WRONGTYPE', 1, true) and 'LOST' or found end
for i = 1, tonumber(ARGV[3]) do
  if found[i] ~= 1 then return 'LOST' end
end
--safety:written
-- What nobody else writes to has exactly as many fingerprints and removals as the last write has left: an older copy has not.
local token, items, deletes = string.match(known[2] or '', '^(%S+) (%d+) (%d+)')
if ARGV[1] == 'token' and token == ARGV[2] then
  local allFound = true
  for i = 1, #found do
    if found[i] ~= 1 then allFound = false end
  end
  local info = allFound and {} or redis.pcall('CF.INFO', KEYS[2])
  if info.err then return info end
  for i = 1, #info, 2 do
    local name = type(info[i]) == 'table' and info[i].ok or info[i]
    if name == 'Number of items inserted' and info[i + 1] ~= tonumber(items) then return 'LOST' end
    if name == 'Number of items deleted' and info[i + 1] ~= tonumber(deletes) then return 'LOST' end
  end
end
--end
return found
