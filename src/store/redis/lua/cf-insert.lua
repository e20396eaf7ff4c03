--[[
Adds ids that a build has read to the staged cuckoo filter.

KEYS[1]   lease
KEYS[2]   the filter
ARGV[1]   token of the lease
ARGV[2]   life of the filter, in milliseconds
ARGV[3..] ids

Reply: 'LEASE'   the lease is not the caller's
       'LENGTH'  the filter is not there
       'FULL'    it is full
       'OK'
]]
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 'LEASE' end
local reply = redis.pcall('CF.INSERT', KEYS[2], 'NOCREATE', 'ITEMS', unpack(ARGV, 3))
if reply.err then return redis.call('EXISTS', KEYS[2]) == 0 and 'LENGTH' or 'FULL' end
for i = 1, #reply do
  if reply[i] ~= 1 then return 'FULL' end
end
redis.call('PEXPIRE', KEYS[2], ARGV[2])
return 'OK'
