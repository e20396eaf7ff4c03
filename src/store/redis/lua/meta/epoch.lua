--[[
Reads the epoch of a partitioned filter, and begins another one unless a third process was faster.

KEYS[1]  the epoch
ARGV[1]  the text that it must have to be replaced, '' for none
ARGV[2]  the text that replaces it, '' to read it only

Reply: the text that it has now, '' for none
]]
--- @include "ask"
local epoch = ask('GET', KEYS[1])
-- A key of another type was not written by this package.
if type(epoch) ~= 'string' then epoch = '' end
if ARGV[2] == '' or epoch ~= ARGV[1] then return epoch end
redis.call('SET', KEYS[1], ARGV[2])
return ARGV[2]
