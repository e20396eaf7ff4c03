--[[
Counts the set bits of a part of a string.

KEYS[1]  the string
ARGV[1]  first byte
ARGV[2]  last byte

Reply: { length of the string in bytes, bits set in the part }
]]
if redis.call('TYPE', KEYS[1]).ok ~= 'string' then return { 0, 0 } end
return { redis.call('STRLEN', KEYS[1]), redis.call('BITCOUNT', KEYS[1], ARGV[1], ARGV[2]) }
