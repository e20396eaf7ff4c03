--[[
Asks a cuckoo filter for ids.

KEYS[1]   meta
KEYS[2]   the filter
ARGV[1]   field of the metadata that holds the generation's token
ARGV[2]   the token as the caller knows it
ARGV[3]   number of canaries of the generation
ARGV[4..] the canaries, then the ids

Reply: 'STALE'  the generation is another one by now
       'LOST'   the filter is not there, or is not of this generation
       the reply of CF.MEXISTS, that of the canaries included
]]
if redis.call('TYPE', KEYS[1]).ok ~= 'hash' or redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then return 'STALE' end
local found = redis.pcall('CF.MEXISTS', KEYS[2], unpack(ARGV, 4))
if found.err then return string.find(found.err, 'WRONGTYPE', 1, true) and 'LOST' or found end
for i = 1, tonumber(ARGV[3]) do
  if found[i] ~= 1 then return 'LOST' end
end
return found
