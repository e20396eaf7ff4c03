--[[
Makes an empty table of the negative cache for the live generation: from now on every add marks its ids there. Nothing can be noted in
it for as long as a row may be on its way that was added before.

KEYS[1]  meta
KEYS[2]  table of the negative cache
ARGV[1]  tag of the live generation as meta holds it, as far as the caller knows
ARGV[2]  name of the table that meta holds now, '' for none
ARGV[3]  name of the new table; its first eight characters are its tag
ARGV[4]  buckets
ARGV[5]  life of a mark, in milliseconds

Reply: 'STALE' when another generation is live or meta names another table, else 'OK'
]]
--- @include "negative-cache-tag"
--- @include "now"
if redis.call('TYPE', KEYS[1]).ok ~= 'hash' then return 'STALE' end
local known = redis.call('HMGET', KEYS[1], 'tag', 'denials')
if known[1] ~= ARGV[1] or (known[2] or '') ~= ARGV[2] then return 'STALE' end
local visibleAt = now() + ARGV[5]
local bucket = struct.pack('<I4d', tagOf(ARGV[3]), visibleAt) .. string.rep('\0', 96)
-- In pieces: Lua takes long to make one large string.
local piece, buckets = string.rep(bucket, 500), tonumber(ARGV[4])
redis.call('SET', KEYS[2], string.rep(bucket, buckets % 500))
for _ = 1, math.floor(buckets / 500) do
  redis.call('APPEND', KEYS[2], piece)
end
redis.call('HSET', KEYS[1], 'denials', ARGV[3])
return 'OK'
