--[[
Gives a lease back.

KEYS[1]  lease
ARGV[1]  token of the holder

Reply: 'OK'
]]
local lease = redis.call('GET', KEYS[1])
-- After the token the lease names the server that gave it.
if lease and string.match(lease, '^[^@]*') == ARGV[1] then redis.call('DEL', KEYS[1]) end
return 'OK'
