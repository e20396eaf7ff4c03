--[[
Makes an empty staged filter, on a server without BF.LOADCHUNK.

KEYS[1]   lease
KEYS[2]   the staged filter
ARGV[1]   token of the lease
ARGV[2]   life of the staged filter, in milliseconds
ARGV[3..] what BF.RESERVE takes after the key

Reply: 'LEASE' when the lease is not the caller's, else 'OK'
]]
--- @include "lease"
if not holdsLease(KEYS[1], ARGV[1]) then return 'LEASE' end
redis.call('UNLINK', KEYS[2])
redis.call('BF.RESERVE', KEYS[2], unpack(ARGV, 3))
redis.call('PEXPIRE', KEYS[2], ARGV[2])
return 'OK'
