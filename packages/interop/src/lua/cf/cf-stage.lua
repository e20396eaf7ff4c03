--[[
Makes an empty staged cuckoo filter with its canaries, and the set of the fingerprints that have to stay in it.

KEYS[1]   lease
KEYS[2]   the filter
KEYS[3]   the set
ARGV[1]   token of the lease
ARGV[2]   life of both, in milliseconds
ARGV[3]   number of canaries
ARGV[4..] the canaries, then what CF.RESERVE takes after the key

Reply: 'LEASE' when the lease is not the caller's, else 'OK'
]]
--- @include "lease"
if not holdsLease(KEYS[1], ARGV[1]) then return 'LEASE' end
local canaries = tonumber(ARGV[3])
redis.call('DEL', KEYS[2], KEYS[3])
redis.call('CF.RESERVE', KEYS[2], unpack(ARGV, 4 + canaries))
redis.call('CF.INSERT', KEYS[2], 'NOCREATE', 'ITEMS', unpack(ARGV, 4, 3 + canaries))
redis.call('SADD', KEYS[3], 'kept')
redis.call('PEXPIRE', KEYS[2], ARGV[2])
redis.call('PEXPIRE', KEYS[3], ARGV[2])
return 'OK'
