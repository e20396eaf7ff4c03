--[[
Takes a reader off the list that answers nothing from its copy any more, and tells the adders that wait if they waited for it.

KEYS[1]  meta
KEYS[2]  readers
KEYS[3]  channel of acknowledgements
ARGV[1]  list on which the reader is
ARGV[2]  reader

Reply: 'OK'
]]
--- @include "copy-tell"
local copies = { meta = KEYS[1], readers = KEYS[2], list = ARGV[1] }
local before = leastOf(copies)
redis.call('ZREM', KEYS[2], 'e:' .. ARGV[2], 'a:' .. ARGV[2])
tellAdders(copies, KEYS[3], before)
return 'OK'
