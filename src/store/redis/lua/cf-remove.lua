--[[
Removes ids from a cuckoo filter, once each, unless what they have there has to stay.

KEYS[1]   meta
KEYS[2]   the filter
KEYS[3]   the set of the fingerprints that have to stay in it
KEYS[4]   what came of this very call, which a client sends again after a broken connection
ARGV[1]   token of the live generation as the caller knows it
ARGV[2]   number of its canaries
ARGV[3]   life of what came of it, in milliseconds
ARGV[4]   for how long nothing is removed from a generation that went live, in milliseconds
ARGV[5..] the canaries, then for each id: the id, and the name of its fingerprint

Reply: 'STALE'  the generation is another one by now
       'LOST'   the filter is not there, or is not of this generation
       { flags } a character for each id: '1' when it was removed
]]
if redis.pcall('HGET', KEYS[1], 'token') ~= ARGV[1] then return 'STALE' end
local done = redis.call('GET', KEYS[4])
-- A second time it would take out the fingerprint of an id that cannot be told from this one.
if done then return { done } end
local canaries = tonumber(ARGV[2])
if redis.pcall('SISMEMBER', KEYS[3], 'kept') ~= 1 then return 'LOST' end
local found = redis.pcall('CF.MEXISTS', KEYS[2], unpack(ARGV, 5, 4 + canaries))
if found.err then return 'LOST' end
for i = 1, canaries do
  if found[i] ~= 1 then return 'LOST' end
end
-- The build may have missed a row that was deleted while it ran: its id would take out another's.
local time = redis.call('TIME')
local age = time[1] * 1000 + time[2] / 1000 - (redis.call('HGET', KEYS[1], 'liveSince') or math.huge)
local isYoung = age < tonumber(ARGV[4])
local flags = {}
for i = 5 + canaries, #ARGV, 2 do
  local stays = isYoung or redis.call('SISMEMBER', KEYS[3], ARGV[i + 1]) == 1
  flags[#flags + 1] = not stays and redis.call('CF.DEL', KEYS[2], ARGV[i]) == 1 and '1' or '0'
end
redis.call('SET', KEYS[4], table.concat(flags), 'PX', ARGV[3])
return { table.concat(flags) }
