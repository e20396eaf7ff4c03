--[[
Gives a lease back.

KEYS[1]  lease
ARGV[1]  token of the lease

Reply: 'OK'
]]
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
return 'OK'
