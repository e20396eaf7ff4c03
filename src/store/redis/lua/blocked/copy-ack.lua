--[[
Notes that a reader has applied all entries up to a number, and tells the adders that wait if all readers have now.

KEYS[1]  readers
KEYS[2]  channel of acknowledgements
ARGV[1]  list on which the reader is
ARGV[2]  reader
ARGV[3]  number of the entry
ARGV[4]  number that it has acknowledged before: adders are told when no reader has acknowledged as little any more. If that was lost, some may have to ask

Reply: 'OK'; the caller need not wait for it
]]
-- A reader has a name of its own on each list: nothing is noted on one that is gone, or has another one in
-- its place.
local isNoted = redis.call('ZADD', KEYS[1], 'XX', 'GT', 'CH', ARGV[3], 'a:' .. ARGV[2]) == 1
if not isNoted or redis.call('ZCOUNT', KEYS[1], '-inf', ARGV[4]) > 0 then return 'OK' end
-- Few readers are the last one: what only these need is below.
--- @include "copy-least"
--- @include "copy-message"
-- All have acknowledged more than `before`, and this one no more than its number.
local isLeast = ARGV[3] - ARGV[4] == 1
publishAcknowledged(KEYS[2], ARGV[1], isLeast and ARGV[3] or string.format('%d', leastOf({ readers = KEYS[1] })))
return 'OK'
