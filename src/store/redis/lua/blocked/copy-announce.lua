--[[
Announces a staging to the readers of the filter, or counts those that have not made it known yet that they have copied it.

KEYS[1]  meta
KEYS[2]  readers
ARGV[1]  token of the staging
ARGV[2]  '1': announces it

Reply: how many readers there are to wait for; 0 when it is not announced
]]
--- @include "now"
--- @include "copy-tag"
--- @include "copy-announced"
if redis.call('TYPE', KEYS[1]).ok ~= 'hash' then return 0 end
local known = redis.call('HMGET', KEYS[1], 'tag', 'pending.token')
if not isLeased(known[1]) or plainTag(known[1]) == '' or known[2] ~= ARGV[1] then return 0 end
if ARGV[2] == '1' then redis.call('HSET', KEYS[1], 'pending.announced', ARGV[1]) end
if not announcedTag(KEYS[1]) then return 0 end
local waited = 0
for _, member in ipairs(redis.call('ZRANGEBYSCORE', KEYS[2], string.format('(%d', math.max(now(), 1e12)), '(+inf')) do
  if redis.call('HGET', KEYS[1], 'pending.ready:' .. string.sub(member, 3)) ~= ARGV[1] then waited = waited + 1 end
end
return waited
