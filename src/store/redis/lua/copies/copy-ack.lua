--[[
Notes that a reader has applied all entries up to a number, and wakes the adders that wait if all readers have now.

KEYS[1]  meta
KEYS[2]  readers
KEYS[3]  acknowledgements
ARGV[1]  list on which the reader is
ARGV[2]  reader
ARGV[3]  number of the entry
ARGV[4]  number that it has acknowledged before: adders are woken when no reader has acknowledged as little any more

Reply: 'GONE' when the reader is not on this list any more, else 'OK'
]]
--- @include "copy-tell"
-- A reader has a name of its own on each list: its member is on no other.
if redis.call('ZADD', KEYS[2], 'XX', 'GT', 'CH', ARGV[3], 'a:' .. ARGV[2]) == 0 then
  return redis.call('ZSCORE', KEYS[2], 'a:' .. ARGV[2]) and 'OK' or 'GONE'
end
-- Most readers are not the last, and to count costs the server less than to read the least number.
if redis.call('ZCOUNT', KEYS[2], '-inf', ARGV[4]) > 0 then return 'OK' end
tellAdders({ meta = KEYS[1], readers = KEYS[2], list = ARGV[1] }, KEYS[3], tonumber(ARGV[4]))
return 'OK'
