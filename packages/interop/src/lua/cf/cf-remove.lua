--[[
Removes ids from a cuckoo filter, once each, unless what they have there has to stay.

KEYS[1]   meta
KEYS[2]   the filter
KEYS[3]   the set of the fingerprints that have to stay in it
KEYS[4]   what came of this very call, which a client sends again after a broken connection
ARGV[1]   token of the live generation as the caller knows it
ARGV[2]   number of its canaries
ARGV[3]   life of what came of it, and the age at which a call is carried out no more, in milliseconds
ARGV[4]   for how long nothing is removed from a generation that went live, in milliseconds
ARGV[5]   time of the server when the call began, in milliseconds
ARGV[6..] the canaries, then for each id: the id, and the name of its fingerprint

Reply: 'STALE'  the generation is another one by now
       'LOST'   the filter is not there, is not of this generation, or not as the last write left it
       'LATE'   the call began too long ago: what came of it, if it was carried out before, may be forgotten
       { flags } a character for each id: '1' when it was removed
]]
--- @include "ask"
--- @include "cf-proof"
--- @include "cf-counts"
--- @include "cf-written"
if ask('HGET', KEYS[1], 'token') ~= ARGV[1] then return 'STALE' end
local done = redis.call('GET', KEYS[4])
-- A second time it would take out the fingerprint of an id that looks the same as this one.
if done then return { done } end
local time, life, began = redis.call('TIME'), tonumber(ARGV[3]), tonumber(ARGV[5])
if time[1] * 1000 + time[2] / 1000 - began >= life then return 'LATE' end
local canaries = tonumber(ARGV[2])
if not isProved(KEYS[2], KEYS[3], 6, canaries) then return 'LOST' end
local written = redis.call('HGET', KEYS[1], 'written')
if not isAsWritten(written, ARGV[1], KEYS[2], KEYS[3]) then return 'LOST' end
-- The build may have missed a row that was deleted while it ran: its id would take out another's. However
-- late the call arrives, it is for a row that was gone when it began.
local isYoung = began - (redis.call('HGET', KEYS[1], 'liveSince') or math.huge) < tonumber(ARGV[4])
local flags = {}
-- Before anything is removed: without it nothing must be.
redis.call('HSET', KEYS[1], 'written', written or '')
redis.call('SET', KEYS[4], '', 'PX', life)
for i = 6 + canaries, #ARGV, 2 do
  local stays = isYoung or redis.call('SISMEMBER', KEYS[3], ARGV[i + 1]) == 1
  flags[#flags + 1] = not stays and redis.call('CF.DEL', KEYS[2], ARGV[i]) == 1 and '1' or '0'
end
redis.call('HSET', KEYS[1], 'written', ARGV[1] .. ' ' .. countsOf(KEYS[2], KEYS[3]))
redis.call('SET', KEYS[4], table.concat(flags), 'PX', life)
return { table.concat(flags) }
