--[[
Notes that nobody has to wait for a reader before an announced staging goes live: it has copied it, or will not.

KEYS[1]  meta
ARGV[1]  reader
ARGV[2]  tag of the staging

Reply: 'OK'
]]
--- @include "copy-announced"
if redis.call('TYPE', KEYS[1]).ok == 'hash' and announcedTag(KEYS[1]) == ARGV[2] then
  redis.call('HSET', KEYS[1], 'pending.ready:' .. ARGV[1], redis.call('HGET', KEYS[1], 'pending.token'))
end
return 'OK'
