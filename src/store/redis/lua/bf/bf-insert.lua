--[[
Adds ids to the staged filter, on a server without BF.LOADCHUNK.

KEYS[1]   lease
KEYS[2]   the staged filter
ARGV[1]   token of the lease
ARGV[2]   life of the staged filter, in milliseconds
ARGV[3..] ids

Reply: 'LEASE'   the lease is not the caller's
       'LENGTH'  the staged filter is not there
       the reply of BF.INSERT
]]
--safety:merge-token
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 'LEASE' end
--end
local reply = redis.pcall('BF.INSERT', KEYS[2], 'NOCREATE', 'ITEMS', unpack(ARGV, 3))
if reply.err then
  return redis.call('EXISTS', KEYS[2]) == 0 and 'LENGTH' or reply
end
redis.call('PEXPIRE', KEYS[2], ARGV[2])
return reply
