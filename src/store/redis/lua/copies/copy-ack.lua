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
-- A reader has a name of its own on each list.
local number = tonumber(redis.call('ZSCORE', KEYS[2], 'a:' .. ARGV[2]) or '')
if not number then return 'GONE' end
if number < tonumber(ARGV[3]) then
  redis.call('ZADD', KEYS[2], ARGV[3], 'a:' .. ARGV[2])
  -- The least number of all has risen if it is more than this one was.
  tellAdders({ meta = KEYS[1], readers = KEYS[2], list = ARGV[1] }, KEYS[3], number)
end
return 'OK'
