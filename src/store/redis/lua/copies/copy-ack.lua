--[[
Notes that a reader has applied all entries up to a number, and tells the adders that wait if all readers have now. A reader that was not the last one for an earlier
entry sends `ZADD` and `ZCOUNT` as plain commands first: `ZADD XX` notes nothing on a list that is gone, or has another one in its place.

KEYS[1]  meta
KEYS[2]  readers
KEYS[3]  channel of acknowledgements
ARGV[1]  list on which the reader is
ARGV[2]  reader
ARGV[3]  number of the entry
ARGV[4]  number that it has acknowledged before: adders are told when no reader has acknowledged as little any more

Reply: 'GONE' when the reader is not on this list any more, 'LAST' when adders were told, otherwise 'OK': other readers have to acknowledge yet
]]
--- @include "copy-tell"
-- A reader has a name of its own on each list.
local isChanged = redis.call('ZADD', KEYS[2], 'XX', 'GT', 'CH', ARGV[3], 'a:' .. ARGV[2]) == 1
if not isChanged and not redis.call('ZSCORE', KEYS[2], 'a:' .. ARGV[2]) then return 'GONE' end
local isTold = tellAdders({ meta = KEYS[1], readers = KEYS[2], list = ARGV[1] }, KEYS[3], tonumber(ARGV[4]))
return isTold and 'LAST' or 'OK'
