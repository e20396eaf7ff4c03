--[[
Claims a filter that nobody has claimed: one that an older version built, or an application without an owner.

KEYS[1]  meta
ARGV[1]  application that claims it
ARGV[2]  format that meta must have

Reply: { the application that the filter belongs to now ('' when meta is missing or has another format), 1 when this call has claimed it, else 0 }
]]
--- @include "owner"
if redis.call('TYPE', KEYS[1]).ok ~= 'hash' or redis.call('HGET', KEYS[1], 'format') ~= ARGV[2] then return { '', 0 } end
local owner, isNew = claimFor(KEYS[1], ARGV[1])
return { owner, isNew and 1 or 0 }
