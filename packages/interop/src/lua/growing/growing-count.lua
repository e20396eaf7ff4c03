--[[
Reports how many ids the layers of the live generation hold.

KEYS[1]   meta
ARGV[1]   token of the live generation as the caller knows it
ARGV[2..] fields of the layers

Reply: 'STALE' when meta holds another token, else the value of each field
]]
--- @include "ask"
if ask('HGET', KEYS[1], 'token') ~= ARGV[1] then return 'STALE' end
return redis.call('HMGET', KEYS[1], unpack(ARGV, 2))
