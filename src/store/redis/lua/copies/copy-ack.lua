--[[
Notes that a reader has applied all entries up to a number, and tells the adders that wait if all readers have now.

KEYS[1]  meta
KEYS[2]  readers
KEYS[3]  channel of acknowledgements
ARGV[1]  list on which the reader is
ARGV[2]  reader
ARGV[3]  number of the entry
ARGV[4]  number that it has acknowledged before: adders are told when no reader has acknowledged as little any more. If that was lost, some may have to ask

Reply: 'OK'; the caller need not wait for it
]]
--- @include "copy-tell"
-- A reader has a name of its own on each list: nothing is noted on one that is gone, or has another one in its place.
if redis.call('ZADD', KEYS[2], 'XX', 'GT', 'CH', ARGV[3], 'a:' .. ARGV[2]) == 1 then
  tellAdders({ meta = KEYS[1], readers = KEYS[2], list = ARGV[1] }, KEYS[3], tonumber(ARGV[4]))
end
return 'OK'
