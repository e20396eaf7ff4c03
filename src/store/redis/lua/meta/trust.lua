--[[
Notes which ids the live generation holds, where the metadata do not say so: an older version has built it, or others have filled the key.

KEYS[1]  meta
ARGV[1]  sum of the live generation as the caller knows it
ARGV[2]  what meta says of its contents as the caller knows it, '' for nothing
ARGV[3]  what it holds

Reply: 'STALE' when another generation is live, or another process has noted it, else 'OK'
]]
local known = redis.call('HMGET', KEYS[1], 'sum', 'contents')
if (known[1] or '') ~= ARGV[1] or (known[2] or '') ~= ARGV[2] then return 'STALE' end
redis.call('HSET', KEYS[1], 'contents', ARGV[3])
return 'OK'
