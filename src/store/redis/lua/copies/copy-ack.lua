--[[
Notes that a reader has applied all entries up to a number, and wakes the adders that wait if all readers have now.

KEYS[1]  meta
KEYS[2]  readers
KEYS[3]  acknowledgements
ARGV[1]  list on which the reader is
ARGV[2]  reader
ARGV[3]  number of the entry

Reply: 'GONE' when the reader is not on this list any more, else 'OK'
]]
--- @include "copy-tell"
local copies = { meta = KEYS[1], readers = KEYS[2], list = ARGV[1] }
local number = redis.call('ZSCORE', KEYS[2], 'a:' .. ARGV[2])
if not number or not redis.call('ZSCORE', KEYS[2], '#' .. ARGV[1]) then return 'GONE' end
local before = leastOf(copies)
if tonumber(number) < tonumber(ARGV[3]) then redis.call('ZADD', KEYS[2], ARGV[3], 'a:' .. ARGV[2]) end
tellAdders(copies, KEYS[3], before)
return 'OK'
