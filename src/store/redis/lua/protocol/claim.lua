--[[
Claims a filter that nobody has claimed: one that an older version built, or an application without an owner.

KEYS[1]  meta
ARGV[1]  application that claims it
ARGV[2]  format that meta must have

Reply: { the application that the filter belongs to now ('' when meta is missing or has another format), 1 when this call has claimed it, else 0 }
]]
if redis.call('TYPE', KEYS[1]).ok ~= 'hash' or redis.call('HGET', KEYS[1], 'format') ~= ARGV[2] then return { '', 0 } end
local owner = redis.call('HGET', KEYS[1], 'owner') or ''
if owner ~= '' then return { owner, 0 } end
redis.call('HSET', KEYS[1], 'owner', ARGV[1])
return { ARGV[1], 1 }
