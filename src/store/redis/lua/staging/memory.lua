--[[
Asks the server for its memory, and touches the keys of a rebuild, so that a policy that evicts by use takes them last.

KEYS[1]    lease
KEYS[2..]  staged keys

Reply: { text of INFO memory ('' when it may not be asked), how many staged keys there are (-1 when they may not be touched) }
]]
local info = redis.pcall('INFO', 'memory')
local found = 0
redis.pcall('TOUCH', KEYS[1])
if #KEYS > 1 then found = redis.pcall('TOUCH', unpack(KEYS, 2)) end
return { type(info) == 'string' and info or '', type(found) == 'number' and found or -1 }
